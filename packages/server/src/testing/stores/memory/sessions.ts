/** Sessions and their events in memory. */
import {
  type ApprovalId,
  type DurableEvent,
  type PrincipalId,
  type SessionId,
  writtenVersion,
} from '@parlance/protocol';
import {
  AppendConflict,
  type LookupKey,
  type SessionFilter,
  type SessionQuery,
  type SessionRecord,
  type SessionRef,
  type TagCount,
} from '../../../core/ports/event-store.ts';
import type { AppendAs } from '../../../core/ports/lease.ts';
import { decodeCursor, encodeCursor, type Position, rowLimit } from '../../../stores/shared/paging.ts';
import {
  checkNumbering,
  type EventOptions,
  lookupKeysOf,
  readStored,
  storableKey,
} from '../../../stores/shared/stored-event.ts';
import { byCodePoint, storable, storableLabels, storableRef } from '../../../stores/shared/text.ts';
import { memorySearch } from './search.ts';
import { memoryTurns } from './turns.ts';
import type { memoryUsage } from './usage.ts';

/** Events are stored as JSON, like on disk: changing a returned object does not change the stored one. */
export type Session = {
  readonly row: number;
  record: SessionRecord;
  readonly events: { readonly version: number; readonly body: string }[];
  /** lookup keys, as in `holders` */
  readonly keys: Set<string>;
};

/** State shared by several stores. */
export type Sessions = {
  readonly sessions: Map<string, Session>;
  readonly awaitsUser: Set<Session>;
  readonly holders: Map<string, Set<Session>>;
  readonly usage: Pick<ReturnType<typeof memoryUsage>, 'add'>;
  rows: number;
  bytes: number;
};

export function memorySessions(
  options: EventOptions,
  database: Sessions,
  parse: typeof readStored = readStored,
) {
  const { sessions, awaitsUser, holders } = database;
  const keyOf = (ref: SessionRef) => JSON.stringify([storable(ref.owner), storable(ref.id)]);
  const holderKey = (key: LookupKey) => JSON.stringify([key.kind, storableKey(key).id]);
  const select = (
    matches: (record: SessionRecord) => boolean,
    among: Iterable<Session> = sessions.values(),
  ) => [...among].filter(({ record }) => matches(record)).sort(lastChangedFirst);
  const filtered = (filter: SessionFilter) =>
    select((record) => matches(filter, record), filter.awaitsUser ? awaitsUser : sessions.values());

  function index(session: Session, events: readonly DurableEvent[]): void {
    if (session.record.pending === null) awaitsUser.delete(session);
    else awaitsUser.add(session);
    for (const key of lookupKeysOf(events).map(holderKey)) {
      session.keys.add(key);
      holders.set(key, (holders.get(key) ?? new Set()).add(session));
    }
  }

  function removeFromIndex(session: Session): void {
    awaitsUser.delete(session);
    for (const key of session.keys) {
      holders.get(key)?.delete(session);
      if (holders.get(key)?.size === 0) holders.delete(key);
    }
  }

  function read(ref: SessionRef, after: number, limit: number): DurableEvent[] {
    const start = Math.max(after, 0);
    const stored = sessions.get(keyOf(ref))?.events.slice(start, start + rowLimit(limit)) ?? [];
    return stored.map((row, index) => parse(ref, { ...row, seq: start + index + 1 }, options));
  }

  const readAll = ({ record: { ref } }: Pick<Session, 'record'>) => read(ref, 0, Number.MAX_SAFE_INTEGER);

  return {
    append(
      expected: number,
      events: readonly DurableEvent[],
      record: SessionRecord,
      as?: Pick<AppendAs, 'last'>,
    ): void {
      checkNumbering(expected, events, record);
      const bodies = events.map((event) => JSON.stringify(event));
      const key = keyOf(record.ref);
      const session = sessions.get(key) ?? {
        row: ++database.rows,
        record,
        events: [],
        keys: new Set<string>(),
      };
      const last = as?.last === undefined ? undefined : read(record.ref, expected - 1, 1)[0];
      if (session.events.length !== expected || (last && last.id !== as?.last)) {
        throw new AppendConflict(record.ref, expected, session.events.length);
      }
      session.record = storableRecord(record);
      const versions = events.map((event) => writtenVersion(event, options.upcasts));
      session.events.push(...bodies.map((body, index) => ({ version: versions[index] ?? 1, body })));
      for (const body of bodies) database.bytes += Buffer.byteLength(body);
      sessions.set(key, session);
      index(session, events);
      database.usage.add(record.usage ?? []);
    },

    read,

    head: (ref: SessionRef): number => sessions.get(keyOf(ref))?.events.length ?? 0,

    load: (ref: SessionRef) => sessions.get(keyOf(ref))?.record ?? null,

    findById: (id: SessionId) =>
      [...sessions.values()]
        .map(({ record }) => record)
        .filter(({ ref }) => ref.id === storable(id))
        .sort((one, other) => one.createdAt - other.createdAt),

    lookup(key: LookupKey, within: Partial<SessionRef> = {}): SessionRecord | null {
      const held = holders.get(holderKey(key)) ?? [];
      const found = select(({ ref }) => isWithin(ref, within), held);
      const { id } = storableKey(key);
      return (found.find(({ record }) => record.pending === id) ?? found[0])?.record ?? null;
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

    search: memorySearch(() => sessions.values(), readAll),

    turns: memoryTurns(() => sessions.values(), readAll),

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

const storableRecord = ({ usage: _, ...record }: SessionRecord): SessionRecord => ({
  ...record,
  ref: storableRef(record.ref),
  dialect: storable(record.dialect),
  domain: storable(record.domain),
  agent: storable(record.agent),
  title: storable(record.title),
  firstInput: storable(record.firstInput),
  pending: record.pending && (storable(record.pending) as ApprovalId),
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
  { owner, domain, status, archived, ephemeral, parent, pinned, tag, label, title }: SessionFilter,
  record: SessionRecord,
): boolean =>
  (archived === 'included' || record.archived === (archived === 'only')) &&
  (ephemeral === 'included' || record.ephemeral === (ephemeral === 'only')) &&
  (parent === 'included' || record.parent === (parent === undefined ? null : storable(parent))) &&
  (pinned === undefined || record.pinned) &&
  (tag === undefined || record.tags.includes(storable(tag))) &&
  (label === undefined || record.labels[storable(label.name)] === storable(label.value)) &&
  (title === undefined || lowered(record.title).includes(lowered(storable(title)))) &&
  (owner === undefined || record.ref.owner === storable(owner)) &&
  (domain === undefined || record.domain === storable(domain)) &&
  (status === undefined || status.includes(record.status));

/** As databases do: only ASCII letters. */
const lowered = (title: string): string => title.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
