/** Stores everything in this process, for tests and for servers that need no persistence. */
import {
  type ApprovalId,
  type DurableEvent,
  type JsonObject,
  kindVersion,
  type PrincipalId,
  type SessionId,
} from '@parlance/protocol';
import type { ApiKeyStore } from '../../core/ports/api-keys.ts';
import {
  AppendConflict,
  type LookupKey,
  type SessionFilter,
  type SessionQuery,
  type SessionRecord,
  type SessionRef,
  type TagCount,
} from '../../core/ports/event-store.ts';
import type { PairingStore } from '../../core/ports/pairings.ts';
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { RevocationStore } from '../../core/ports/revocations.ts';
import type { KeptUser, User, UserStore } from '../../core/ports/users.ts';
import { decodeCursor, encodeCursor, type Position } from '../shared/cursor.ts';
import { Followers } from '../shared/followers.ts';
import { joined, type Store } from '../shared/joined.ts';
import { rowLimit } from '../shared/limit.ts';
import { lookupKeysOf, storableKey } from '../shared/lookup-keys.ts';
import { checkNumbering } from '../shared/numbering.ts';
import { openness } from '../shared/openness.ts';
import { type EventOptions, readStored } from '../shared/stored-event.ts';
import { storable, storableLabels, storableRef } from '../shared/text.ts';
import { memoryApiKeys } from './api-keys.ts';
import { LeaseTable, openMemoryLeases } from './leases.ts';
import { memoryPairings } from './pairings.ts';
import { memorySearch } from './search.ts';
import { memorySettings } from './settings.ts';
import { memoryShares } from './shares.ts';
import { ExclusiveSessions, type PlainStore, withLeases } from './with-leases.ts';

/** Events are stored as JSON, as on disk: changing a returned object does not change the stored one. */
type Session = {
  readonly row: number;
  record: SessionRecord;
  readonly events: { readonly version: number; readonly body: string }[];
  /** lookup keys, as in `holders` */
  readonly keys: Set<string>;
};

/** What several stores share: each of them is a node. */
export class MemoryDatabase {
  readonly sessions = new Map<string, Session>();
  readonly awaitingApproval = new Set<Session>();
  readonly holders = new Map<string, Set<Session>>();
  readonly leases = new LeaseTable();
  readonly exclusive = new ExclusiveSessions();
  readonly followers = new Followers();
  readonly users = memoryUsers(() => this.followers.notify());
  readonly apiKeys = memoryApiKeys(this.users.has, () => this.followers.notify());
  readonly pairings = memoryPairings(this.users.has, () => this.followers.notify());
  readonly revoked = new Map<string, number>();
  readonly preferences = memoryPreferences();
  readonly shares = memoryShares();
  readonly settings = memorySettings(() => this.followers.notify());
  rows = 0;
  bytes = 0;
}

export function openMemoryStore(options: EventOptions = {}, database = new MemoryDatabase()): Store {
  const { whileOpen, close } = openness();
  const sessions = memorySessions(options, database);
  const { followers, users, apiKeys, pairings, revoked, preferences, shares, settings } = database;
  const followed: (() => void)[] = [];

  const eventStore: PlainStore = {
    append: whileOpen(sessions.append),
    read: whileOpen(sessions.read),
    head: whileOpen(sessions.head),
    heads: whileOpen((refs) => refs.map(sessions.head)),
    load: whileOpen(sessions.load),
    findById: whileOpen(sessions.findById),
    lookup: whileOpen(sessions.lookup),
    list: whileOpen(sessions.list),
    count: whileOpen(sessions.count),
    tags: whileOpen(sessions.tags),
    writable: whileOpen(() => undefined),
    size: whileOpen(sessions.size),
    touch: whileOpen(sessions.touch),
    erase: whileOpen((ref) => {
      shares.removeOf(ref);
      return sessions.erase(ref);
    }),
    close: async () => {
      close();
      for (const end of followed) end();
    },
  };
  const userStore: UserStore = {
    find: whileOpen(users.find),
    everyone: whileOpen(users.everyone),
    put: whileOpen(users.put),
    remove: whileOpen((name) => {
      apiKeys.removeOf(name);
      pairings.removeOf(name);
      return users.remove(name);
    }),
  };
  const apiKeyStore: ApiKeyStore = {
    find: whileOpen(apiKeys.find),
    list: whileOpen(apiKeys.list),
    add: whileOpen(apiKeys.add),
    remove: whileOpen(apiKeys.remove),
    used: whileOpen(apiKeys.used),
  };
  const pairingStore: PairingStore = {
    request: whileOpen(pairings.request),
    requests: whileOpen(pairings.requests),
    findRequest: whileOpen(pairings.findRequest),
    requestWith: whileOpen(pairings.requestWith),
    takeRequest: whileOpen(pairings.takeRequest),
    find: whileOpen(pairings.find),
    list: whileOpen(pairings.list),
    add: whileOpen(pairings.add),
    hasOrigin: whileOpen(pairings.hasOrigin),
    remove: whileOpen(pairings.remove),
    used: whileOpen(pairings.used),
  };
  const preferenceStore: PreferenceStore = {
    get: whileOpen(preferences.get),
    put: whileOpen(preferences.put),
  };
  const revocations: RevocationStore = {
    add: whileOpen((id, until) => {
      for (const [other, end] of revoked) if (end < Date.now()) revoked.delete(other);
      revoked.set(storable(id), Math.max(until, revoked.get(storable(id)) ?? until));
    }),
    has: whileOpen((id) => revoked.has(storable(id))),
    list: whileOpen(() =>
      [...revoked].map(([id, until]) => ({ id, until })).filter(({ until }) => until >= Date.now()),
    ),
    follow(changed) {
      const end = followers.add(changed);
      followed.push(end);
      return end;
    },
  };
  const leases = openMemoryLeases(database.leases, eventStore);
  const events = withLeases(eventStore, leases, database.exclusive);
  return joined(events, userStore, {
    apiKeys: apiKeyStore,
    leases,
    nodes: whileOpen(leases.nodes),
    pairings: pairingStore,
    shares: {
      find: whileOpen(shares.find),
      list: whileOpen(shares.list),
      add: whileOpen((share, most) =>
        sessions.load(share.ref) ? shares.add(share, most) : ('no_session' as const),
      ),
      remove: whileOpen(shares.remove),
    },
    search: { update: whileOpen(() => true), find: whileOpen(sessions.search) },
    preferences: preferenceStore,
    revocations,
    settings: { read: whileOpen(settings.read), write: whileOpen(settings.write) },
  });
}

function memorySessions(options: EventOptions, database: MemoryDatabase) {
  const { sessions, awaitingApproval, holders } = database;
  const keyOf = (ref: SessionRef) => JSON.stringify([storable(ref.owner), storable(ref.id)]);
  const holderKey = (key: LookupKey) => JSON.stringify([key.kind, storableKey(key).id]);
  const select = (wanted: (record: SessionRecord) => boolean, among: Iterable<Session> = sessions.values()) =>
    [...among].filter(({ record }) => wanted(record)).sort(lastChangedFirst);
  const filtered = (filter: SessionFilter) =>
    select(
      (record) => matches(filter, record),
      filter.awaitingApproval ? awaitingApproval : sessions.values(),
    );

  function index(session: Session, events: readonly DurableEvent[]): void {
    if (session.record.approval === null) awaitingApproval.delete(session);
    else awaitingApproval.add(session);
    for (const key of lookupKeysOf(events).map(holderKey)) {
      session.keys.add(key);
      holders.set(key, (holders.get(key) ?? new Set()).add(session));
    }
  }

  function removeFromIndex(session: Session): void {
    awaitingApproval.delete(session);
    for (const key of session.keys) {
      holders.get(key)?.delete(session);
      if (holders.get(key)?.size === 0) holders.delete(key);
    }
  }

  function read(ref: SessionRef, after: number, limit: number): DurableEvent[] {
    const start = Math.max(after, 0);
    const stored = sessions.get(keyOf(ref))?.events.slice(start, start + rowLimit(limit)) ?? [];
    return stored.map((row, index) => readStored(ref, { ...row, seq: start + index + 1 }, options));
  }

  return {
    append(expected: number, events: readonly DurableEvent[], record: SessionRecord): void {
      checkNumbering(expected, events, record);
      const bodies = events.map((event) => JSON.stringify(event));
      const key = keyOf(record.ref);
      const session = sessions.get(key) ?? {
        row: ++database.rows,
        record,
        events: [],
        keys: new Set<string>(),
      };
      if (session.events.length !== expected) {
        throw new AppendConflict(record.ref, expected, session.events.length);
      }
      session.record = storableRecord(record);
      const versions = events.map(({ type }) => kindVersion(type, options.upcasts));
      session.events.push(...bodies.map((body, index) => ({ version: versions[index] ?? 1, body })));
      for (const body of bodies) database.bytes += Buffer.byteLength(body);
      sessions.set(key, session);
      index(session, events);
    },

    read,

    head: (ref: SessionRef): number => sessions.get(keyOf(ref))?.events.length ?? 0,

    load: (ref: SessionRef) => sessions.get(keyOf(ref))?.record ?? null,

    findById: (id: SessionId) =>
      select((record) => record.ref.id === storable(id)).map((session) => session.record),

    lookup(key: LookupKey, within: Partial<SessionRef> = {}): SessionRecord | null {
      const held = holders.get(holderKey(key)) ?? [];
      const found = select(({ ref }) => isWithin(ref, within), held);
      const { id } = storableKey(key);
      return (found.find(({ record }) => record.approval === id) ?? found[0])?.record ?? null;
    },

    list(query: SessionQuery) {
      const limit = rowLimit(query.limit);
      const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
      const found = filtered(query)
        .filter((session) => after === null || comesAfter(after, session))
        .slice(rowLimit(query.offset ?? 0));
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        sessions: page.map((session) => session.record),
        next:
          last && found.length > limit
            ? encodeCursor({ updatedAt: last.record.updatedAt, row: last.row })
            : null,
      };
    },

    count: (filter: SessionFilter) => filtered(filter).length,

    tags(owner: PrincipalId): TagCount[] {
      const tags = filtered({ owner }).flatMap(({ record }) => record.tags);
      const counts = Map.groupBy(tags, (tag) => tag);
      return [...counts]
        .map(([tag, all]) => ({ tag, sessions: all.length }))
        .sort((one, other) => byCodePoint(one.tag, other.tag));
    },

    search: memorySearch(
      () => sessions.values(),
      ({ record: { ref } }) => read(ref, 0, Number.MAX_SAFE_INTEGER),
    ),

    size: () => database.bytes,

    touch(ref: SessionRef, at: number): void {
      const session = sessions.get(keyOf(ref));
      if (session && session.record.updatedAt < at) session.record = { ...session.record, updatedAt: at };
    },

    erase(ref: SessionRef): boolean {
      const session = sessions.get(keyOf(ref));
      if (session) removeFromIndex(session);
      return sessions.delete(keyOf(ref));
    },
  };
}

/** Stored as JSON for the same reason as events. */
function memoryPreferences() {
  const values = new Map<string, string>();
  return {
    get: (owner: PrincipalId): JsonObject | null => {
      const found = values.get(storable(owner));
      return found === undefined ? null : JSON.parse(found);
    },
    put: (owner: PrincipalId, value: JsonObject): void => {
      values.set(storable(owner), JSON.stringify(value));
    },
  };
}

function memoryUsers(changed: () => void) {
  const users = new Map<string, KeptUser>();
  return {
    has: (name: string) => users.has(storable(name)),
    find: (name: string) => users.get(storable(name)) ?? null,
    everyone: () => [...users.values()].sort((one, other) => byCodePoint(one.name, other.name)),
    put: (user: User) => {
      const name = storable(user.name);
      users.set(name, { ...user, name, tokenVersion: crypto.randomUUID() });
      changed();
    },
    remove: (name: string) => {
      const removed = users.delete(storable(name));
      if (removed) changed();
      return removed;
    },
  };
}

const storableRecord = (record: SessionRecord): SessionRecord => ({
  ...record,
  ref: storableRef(record.ref),
  dialect: storable(record.dialect),
  domain: storable(record.domain),
  agent: storable(record.agent),
  title: storable(record.title),
  firstInput: storable(record.firstInput),
  approval: record.approval && (storable(record.approval) as ApprovalId),
  tags: record.tags.map(storable),
  labels: storableLabels(record.labels),
  checkpoint: record.checkpoint && { ...record.checkpoint, state: storable(record.checkpoint.state) },
});

const lastChangedFirst = (one: Session, other: Session): number =>
  other.record.updatedAt - one.record.updatedAt || other.row - one.row;

const comesAfter = (position: Position, { record, row }: Session): boolean =>
  record.updatedAt < position.updatedAt || (record.updatedAt === position.updatedAt && row < position.row);

const isWithin = (ref: SessionRef, { owner, id }: Partial<SessionRef>): boolean =>
  (owner === undefined || ref.owner === storable(owner)) && (id === undefined || ref.id === storable(id));

const matches = (
  { owner, domain, status, archived, ephemeral, pinned, tag, label, title }: SessionFilter,
  record: SessionRecord,
): boolean =>
  (archived === 'included' || record.archived === (archived === 'only')) &&
  (ephemeral === 'included' || record.ephemeral === (ephemeral === 'only')) &&
  (pinned === undefined || record.pinned) &&
  (tag === undefined || record.tags.includes(storable(tag))) &&
  (label === undefined || record.labels[storable(label.name)] === storable(label.value)) &&
  (title === undefined || record.title.toLowerCase().includes(storable(title).toLowerCase())) &&
  (owner === undefined || record.ref.owner === storable(owner)) &&
  (domain === undefined || record.domain === storable(domain)) &&
  (status === undefined || status.includes(record.status));

/** Databases order by UTF-8 bytes. String comparison would put U+1F600 before U+FF5E. */
const byCodePoint = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
