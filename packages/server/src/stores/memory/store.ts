/** Stores everything in memory, for tests and for servers that need no persistence. */
import type { JsonObject, PrincipalId } from '@parlance/protocol';
import type { ApiKeyStore } from '../../core/ports/api-keys.ts';
import type { PairingStore } from '../../core/ports/pairings.ts';
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { RevocationStore } from '../../core/ports/revocations.ts';
import type { StoredUser, User, UserStore } from '../../core/ports/users.ts';
import { closeGuard } from '../shared/close-guard.ts';
import { combineStores, type Store } from '../shared/combine-stores.ts';
import { Followers } from '../shared/followers.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { byCodePoint, storable } from '../shared/text.ts';
import { memoryApiKeys } from './api-keys.ts';
import { LeaseTable, openMemoryLeases } from './leases.ts';
import { memoryPairings } from './pairings.ts';
import { memorySessions, type Session } from './sessions.ts';
import { memorySettings } from './settings.ts';
import { memoryShares } from './shares.ts';
import { ExclusiveSessions, type PlainStore, withLeases } from './with-leases.ts';

/** State shared by several stores, each of which is a node. */
export class MemoryDatabase {
  readonly sessions = new Map<string, Session>();
  readonly awaitingApproval = new Set<Session>();
  readonly holders = new Map<string, Set<Session>>();
  readonly leases = new LeaseTable();
  readonly exclusive = new ExclusiveSessions();
  readonly followers = new Followers();
  readonly users = memoryUsers(() => this.followers.notify());
  readonly apiKeys = memoryApiKeys(this.users.has, (removed) => {
    this.pairings.removeWith(removed);
    this.followers.notify();
  });
  readonly pairings = memoryPairings({
    hasUser: this.users.has,
    hasKey: (id) => this.apiKeys.find(id) !== null,
    changed: () => this.followers.notify(),
  });
  readonly revoked = new Map<string, number>();
  readonly preferences = memoryPreferences();
  readonly shares = memoryShares();
  readonly settings = memorySettings(() => this.followers.notify());
  rows = 0;
  bytes = 0;
}

export function openMemoryStore(options: EventOptions = {}, database = new MemoryDatabase()): Store {
  const { whileOpen, close } = closeGuard();
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
  return combineStores(events, userStore, {
    apiKeys: apiKeyStore,
    leases,
    nodes: whileOpen(leases.nodes),
    pairings: pairingStore,
    shares: {
      find: whileOpen(shares.find),
      list: whileOpen(shares.list),
      add: whileOpen((share, max) =>
        sessions.load(share.ref) ? shares.add(share, max) : ('no_session' as const),
      ),
      remove: whileOpen(shares.remove),
    },
    search: { update: whileOpen(() => true), find: whileOpen(sessions.search) },
    preferences: preferenceStore,
    revocations,
    settings: { read: whileOpen(settings.read), write: whileOpen(settings.write) },
    turns: {
      list: whileOpen(sessions.turns.list),
      count: whileOpen(sessions.turns.count),
      find: whileOpen(sessions.turns.find),
    },
  });
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
  const users = new Map<string, StoredUser>();
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
