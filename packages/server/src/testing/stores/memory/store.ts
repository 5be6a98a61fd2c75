/** Stores everything in memory, for tests. */
import type { JsonObject, PrincipalId } from '@parlance/protocol';
import {
  type ApiKey,
  KEPT_AFTER_EXPIRY_MS,
  type Pairing,
  type PairingRequest,
  type StoredUser,
  type User,
} from '../../../accounts/store.ts';
import type { SessionRef, Share, Webhook, WebhookProgress } from '../../../core/ports/event-store.ts';

import { Listeners } from '../../../lib/listeners.ts';
import { closeGuard, guarded, type Store } from '../../../stores/shared/store.ts';
import type { EventOptions } from '../../../stores/shared/stored-event.ts';
import { byCodePoint, storable, storableRef } from '../../../stores/shared/text.ts';
import {
  ExclusiveSessions,
  LeaseTable,
  openMemoryLeases,
  type PlainStore,
  withLeases,
} from '../../../stores/sqlite/leases.ts';
import { memoryDecisions } from './decisions.ts';
import { memorySessions, type Session } from './sessions.ts';
import { memorySettings } from './settings.ts';
import { memoryInvitations, memorySignIns } from './sign-ins.ts';
import { memoryUsage } from './usage.ts';
import { memoryWebhooks } from './webhooks.ts';

/** State shared by several stores, each of which is a node. */
export class MemoryDatabase {
  readonly sessions = new Map<string, Session>();
  readonly awaitsUser = new Set<Session>();
  readonly holders = new Map<string, Set<Session>>();
  readonly leases = new LeaseTable();
  readonly exclusive = new ExclusiveSessions();
  readonly followers = new Listeners();
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
  readonly signIns = memorySignIns(this.users.find, () => this.followers.notify());
  readonly invitations = memoryInvitations(this.users);
  readonly revoked = new Map<string, number>();
  readonly preferences = memoryPreferences();
  readonly shares = memoryShares();
  readonly webhooks = memoryWebhooks();
  readonly decisions = memoryDecisions();
  readonly settings = memorySettings(() => this.followers.notify());
  readonly usage = memoryUsage();
  rows = 0;
  bytes = 0;
}

export function openMemoryStore(options: EventOptions = {}, database = new MemoryDatabase()): Store {
  const { whileOpen, close } = closeGuard();
  const { search, turns, ...sessions } = memorySessions(options, database);
  const { followers, users, apiKeys, pairings, revoked, preferences, shares, webhooks, settings, decisions } =
    database;
  const followed: (() => void)[] = [];
  const { removeOf: removeKeysOf, ...keyTable } = apiKeys;
  const { removeOf: removePairingsOf, removeWith: _, ...pairingTable } = pairings;
  const { removeOf: removeSharesOf, ...shareTable } = shares;
  const { removeOf: removeWebhooksOf, ...webhookTable } = webhooks;
  const { removeOf: removeSignInsOf, ...signInTable } = database.signIns;
  const { removeOf: removeInvitationsOf, ...invitationTable } = database.invitations;
  const { has: _has, ...userTable } = users;
  const { removeOf: removeDecisionsOf, ...decisionTable } = decisions;

  const plain: PlainStore = {
    ...guarded(
      {
        ...sessions,
        heads: (refs: readonly SessionRef[]) => refs.map(sessions.head),
        writable: () => undefined,
        erase(ref: SessionRef) {
          removeSharesOf(ref);
          removeWebhooksOf(ref);
          return sessions.erase(ref);
        },
      },
      whileOpen,
    ),
    async close() {
      close();
      for (const end of followed) end();
    },
  };
  const leases = openMemoryLeases(database.leases, plain);
  return {
    ...guarded(
      {
        ...userTable,
        remove(name: string) {
          removeKeysOf(name);
          removePairingsOf(name);
          removeSignInsOf(name);
          removeInvitationsOf(name);
          removeDecisionsOf(name);
          return users.remove(name);
        },
      },
      whileOpen,
    ),
    ...withLeases(plain, leases, database.exclusive),
    leases,
    nodes: whileOpen(leases.nodes),
    apiKeys: guarded(keyTable, whileOpen),
    pairings: guarded(pairingTable, whileOpen),
    signIns: guarded(signInTable, whileOpen),
    invitations: guarded(invitationTable, whileOpen),
    shares: guarded(
      {
        ...shareTable,
        add: (share: Share, max: number) =>
          sessions.load(share.ref) ? shares.add(share, max) : ('no_session' as const),
      },
      whileOpen,
    ),
    webhooks: guarded(
      {
        ...webhookTable,
        put: (webhook: Webhook & WebhookProgress, max: { readonly turn: number; readonly owner: number }) =>
          sessions.load(webhook.ref) ? webhooks.put(webhook, max) : ('no_session' as const),
      },
      whileOpen,
    ),
    search: guarded({ update: () => true, find: search }, whileOpen),
    turns: guarded(turns, whileOpen),
    preferences: guarded(preferences, whileOpen),
    settings: guarded(settings, whileOpen),
    decisions: guarded(decisionTable, whileOpen),
    usage: guarded(database.usage, whileOpen),
    revocations: {
      ...guarded(
        {
          add(id: string, until: number) {
            for (const [other, end] of revoked)
              if (end < Date.now() - KEPT_AFTER_EXPIRY_MS) revoked.delete(other);
            revoked.set(storable(id), Math.max(until, revoked.get(storable(id)) ?? until));
          },
          has: (id: string) => revoked.has(storable(id)),
          list: () =>
            [...revoked].map(([id, until]) => ({ id, until })).filter(({ until }) => until >= Date.now()),
        },
        whileOpen,
      ),
      follow(changed) {
        const end = followers.add(changed);
        followed.push(end);
        return end;
      },
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

function memoryApiKeys(hasUser: (name: string) => boolean, removed: (id: string) => void) {
  const keys = new Map<string, ApiKey>();
  const of = (owner: string) => [...keys.values()].filter((key) => key.owner === storable(owner));

  return {
    find: (id: string): ApiKey | null => keys.get(storable(id)) ?? null,

    list: (owner?: string): ApiKey[] =>
      (owner === undefined ? [...keys.values()] : of(owner)).sort(
        (one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
      ),

    add(key: ApiKey, max: number): 'added' | 'too_many' | 'no_user' {
      const [id, owner, name] = [storable(key.id), storable(key.owner), storable(key.name)];
      if (!hasUser(owner)) return 'no_user';
      if (of(owner).length >= max) return 'too_many';
      if (keys.has(id)) throw new Error('an API key with this id exists');
      keys.set(id, { ...key, id, owner, name, dialects: key.dialects?.map(storable) ?? null });
      return 'added';
    },

    remove(id: string, owner?: string): boolean {
      const found = keys.get(storable(id));
      if (!found || (owner !== undefined && found.owner !== storable(owner))) return false;
      keys.delete(found.id);
      removed(found.id);
      return true;
    },

    /** Does not notify: the caller removes the user in the same step. */
    removeOf(owner: string): void {
      for (const { id } of of(owner)) keys.delete(id);
    },

    used(times: ReadonlyMap<string, number>): void {
      for (const [id, at] of times) {
        const found = keys.get(storable(id));
        if (found) keys.set(found.id, { ...found, lastUsedAt: Math.max(at, found.lastUsedAt ?? at) });
      }
    },
  };
}

const byTime = (time: (one: Pairing) => number) => (one: Pairing, other: Pairing) =>
  time(one) - time(other) || (one.id < other.id ? -1 : 1);

type Others = {
  readonly hasUser: (name: string) => boolean;
  readonly hasKey: (id: string) => boolean;
  readonly changed: () => void;
};

function memoryPairings({ hasUser, hasKey, changed }: Others) {
  const requests = new Map<string, PairingRequest>();
  const pairings = new Map<string, Pairing>();
  const named = (owner: string | null) => (owner === null ? null : storable(owner));

  return {
    request(given: PairingRequest, max: number): boolean {
      for (const { id, expiresAt } of [...requests.values()])
        if (expiresAt <= given.createdAt) requests.delete(id);
      const isTaken = [...requests.values()].some(({ code }) => code === given.code);
      if (requests.size >= max || isTaken) return false;
      requests.set(given.id, { ...given, name: storable(given.name), origin: storable(given.origin) });
      return true;
    },
    requests: (): PairingRequest[] => [...requests.values()],
    findRequest: (id: string): PairingRequest | null => requests.get(storable(id)) ?? null,
    requestWith: (code: string): PairingRequest | null =>
      [...requests.values()].find((request) => request.code === storable(code)) ?? null,
    takeRequest(id: string): PairingRequest | null {
      const found = requests.get(storable(id)) ?? null;
      requests.delete(storable(id));
      return found;
    },
    find: (id: string): Pairing | null => pairings.get(storable(id)) ?? null,
    list: (owner?: string | null): Pairing[] =>
      [...pairings.values()]
        .filter((pairing) => owner === undefined || pairing.owner === named(owner))
        .sort(byTime(({ allowedAt }) => allowedAt)),
    add(pairing: Pairing): boolean {
      const owner = named(pairing.owner);
      if (owner !== null && !hasUser(owner)) return false;
      if (pairing.key !== null && !hasKey(pairing.key)) return false;
      if (pairings.has(pairing.id)) throw new Error('a pairing with this id exists');
      const { name, origin } = pairing;
      pairings.set(pairing.id, { ...pairing, owner, name: storable(name), origin: storable(origin) });
      return true;
    },
    hasOrigin: (origin: string): boolean =>
      [...pairings.values()].some((pairing) => pairing.origin === storable(origin)),
    remove(id: string, owner?: string | null): boolean {
      const found = pairings.get(storable(id));
      if (!found || (owner !== undefined && found.owner !== named(owner))) return false;
      pairings.delete(found.id);
      changed();
      return true;
    },
    /** Does not notify: the caller removes the user in the same step. */
    removeOf(owner: string): void {
      for (const pairing of [...pairings.values()])
        if (pairing.owner === storable(owner)) pairings.delete(pairing.id);
    },
    /** Does not notify: the caller removes the API key in the same step. */
    removeWith(key: string): void {
      for (const pairing of [...pairings.values()])
        if (pairing.key === storable(key)) pairings.delete(pairing.id);
    },
    used(times: ReadonlyMap<string, number>): void {
      for (const [id, at] of times) {
        const found = pairings.get(storable(id));
        if (found) pairings.set(found.id, { ...found, lastUsedAt: Math.max(at, found.lastUsedAt ?? at) });
      }
    },
  };
}

function memoryShares() {
  let shares: Share[] = [];
  const isOf = (ref: SessionRef) => {
    const { owner, id } = storableRef(ref);
    return (share: Share) => share.ref.owner === owner && share.ref.id === id;
  };
  return {
    find: (hash: string): Share | null => shares.find((share) => share.hash === hash) ?? null,
    list: (ref: SessionRef): Share[] => shares.filter(isOf(ref)),
    add(share: Share, max: number): 'added' | 'too_many' {
      if (shares.filter(isOf(share.ref)).length >= max) return 'too_many';
      shares = [...shares, { ...share, ref: storableRef(share.ref) }];
      return 'added';
    },
    remove(ref: SessionRef, id: string): boolean {
      const before = shares.length;
      shares = shares.filter((share) => !(share.id === id && isOf(ref)(share)));
      return shares.length < before;
    },
    removeOf(ref: SessionRef): void {
      shares = shares.filter((share) => !isOf(ref)(share));
    },
  };
}
