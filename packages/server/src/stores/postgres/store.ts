/** Store operations on an open database. */

import type { ApiKeyStore } from '../../core/ports/api-keys.ts';
import type { EventStore, SessionRef } from '../../core/ports/event-store.ts';
import { sessionKey } from '../../core/ports/event-store.ts';
import type { PairingStore } from '../../core/ports/pairings.ts';
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { RevocationStore } from '../../core/ports/revocations.ts';
import type { SettingsStore } from '../../core/ports/settings.ts';
import type { UserStore } from '../../core/ports/users.ts';
import { closeGuard } from '../shared/close-guard.ts';
import { combineStores, type Store } from '../shared/combine-stores.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import { prepareApiKeys } from './api-keys.ts';
import type { Changes } from './changes.ts';
import { prepareCount } from './count.ts';
import type { Database } from './database.ts';
import { prepareErase } from './erase.ts';
import { withFaults } from './errors.ts';
import { openEventLog } from './event-log.ts';
import { prepareFindById } from './find-by-id.ts';
import type { QueueLimits } from './group-append.ts';
import { prepareHead, prepareHeads } from './head.ts';
import { prepareList } from './list.ts';
import { listNodes } from './list-nodes.ts';
import { prepareLoad } from './load.ts';
import { prepareLookup } from './lookup.ts';
import type { ThisNode } from './node.ts';
import { preparePairings } from './pairings.ts';
import { preparePreferences } from './preferences.ts';
import { prepareProbe } from './probe.ts';
import { prepareRevocations } from './revocations.ts';
import { prepareSearch } from './search.ts';
import { prepareSettings } from './settings.ts';
import { prepareShares } from './shares.ts';
import { prepareSize } from './size.ts';
import { prepareTags } from './tags.ts';
import { prepareTouch } from './touch.ts';
import { prepareTurns } from './turns.ts';
import { prepareUsers } from './users.ts';

export type StoreOptions = EventOptions & {
  readonly queue?: QueueLimits;
  /** called with the number of appends of each commit */
  readonly onCommit?: (appends: number) => void;
};

export type StoreParts = {
  readonly database: Database;
  readonly changes: Changes;
  readonly node: ThisNode;
  /** the newest event version that all nodes can read */
  readonly writableVersion: () => number;
  readonly options: StoreOptions;
  readonly closeAll: () => Promise<unknown>;
};

export function storeOn(parts: StoreParts): Store {
  const { database, changes, node, options, closeAll } = parts;
  const size = prepareSize(database);
  const erase = prepareErase(database);
  const log = openEventLog({
    ...options,
    database,
    held: node.held,
    appender: node.appender,
    writableVersion: parts.writableVersion,
    onAppend: size.add,
    onCommit: options.onCommit ?? (() => undefined),
  });
  const search = prepareSearch(database, log.read);
  const turns = prepareTurns(database);
  const shares = prepareShares(database);
  const users = prepareUsers(database);
  const apiKeys = prepareApiKeys(database);
  const pairings = preparePairings(database);
  const preferences = preparePreferences(database);
  const revocations = prepareRevocations(database);
  const settings = prepareSettings(database);
  const { whileOpen: unlessClosed, close } = closeGuard();
  const whileOpen = <Arguments extends unknown[], Result>(operation: (...given: Arguments) => Result) =>
    unlessClosed(withFaults(operation));
  /**
   * Another connection may see a commit before its response arrives: reads wait until pending appends have
   * resolved.
   */
  const acknowledged = <Arguments extends unknown[], Result>(
    read: (...given: Arguments) => Promise<Result>,
    sessionOf?: (...given: Arguments) => SessionRef,
  ) =>
    whileOpen(async (...given: Arguments) => {
      const result = await read(...given);
      await log.groups.inFlight(sessionOf && sessionKey(storableRef(sessionOf(...given))));
      return result;
    });

  const eventStore: EventStore = {
    append: whileOpen(log.append),
    exclusively: (ref, work) => whileOpen(() => log.exclusively(ref, work))(),
    read: acknowledged(log.read, (ref) => ref),
    head: acknowledged(prepareHead(database), (ref) => ref),
    heads: acknowledged(prepareHeads(database)),
    load: acknowledged(prepareLoad(database), (ref) => ref),
    findById: acknowledged(prepareFindById(database)),
    lookup: acknowledged(prepareLookup(database)),
    list: acknowledged(prepareList(database)),
    count: acknowledged(prepareCount(database)),
    tags: acknowledged(prepareTags(database)),
    writable: whileOpen(prepareProbe(database)),
    size: whileOpen(size.current),
    touch: whileOpen(prepareTouch(database)),
    erase: whileOpen(async (given) => {
      const ref = storableRef(given);
      // after earlier requests
      const erased = await node.held.changing(ref, () => log.groups.apart(sessionKey(ref), () => erase(ref)));
      node.held.forget(ref);
      size.forget();
      return erased;
    }),
    /** Writes the queue first. Closing twice does nothing. */
    async close() {
      if (!close()) return;
      changes.stop();
      await log.groups.flush();
      await node.leave();
      await closeAll();
    },
  };
  const userStore: UserStore = {
    find: whileOpen(users.find),
    everyone: whileOpen(users.everyone),
    put: whileOpen(async (user) => {
      await users.put(user);
      changes.notify();
    }),
    remove: whileOpen(async (name) => {
      const removed = await users.remove(name);
      if (removed) changes.notify();
      return removed;
    }),
  };
  const preferenceStore: PreferenceStore = {
    get: whileOpen(preferences.get),
    put: whileOpen(preferences.put),
  };
  const revocationStore: RevocationStore = {
    add: whileOpen(revocations.add),
    has: whileOpen(revocations.has),
    list: whileOpen(revocations.list),
    follow: changes.follow,
    mayKeep: () => node.heartbeat.healthy,
  };
  const apiKeyStore: ApiKeyStore = {
    find: whileOpen(apiKeys.find),
    list: whileOpen(apiKeys.list),
    add: whileOpen(apiKeys.add),
    remove: whileOpen(async (id, owner) => {
      const removed = await apiKeys.remove(id, owner);
      if (removed) changes.notify();
      return removed;
    }),
    used: whileOpen(apiKeys.used),
  };
  const settingsStore: SettingsStore = {
    read: whileOpen(settings.read),
    write: whileOpen(async (name, value, expected) => {
      const written = await settings.write(name, value, expected);
      if (written) changes.notify();
      return written;
    }),
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
    remove: whileOpen(async (id, owner) => {
      const removed = await pairings.remove(id, owner);
      if (removed) changes.notify();
      return removed;
    }),
    used: whileOpen(pairings.used),
  };
  return combineStores(eventStore, userStore, {
    apiKeys: apiKeyStore,
    leases: node.leases,
    nodes: whileOpen(() => listNodes(database)),
    pairings: pairingStore,
    shares: {
      find: whileOpen(shares.find),
      list: whileOpen(shares.list),
      add: whileOpen(shares.add),
      remove: whileOpen(shares.remove),
    },
    search: { update: whileOpen(search.update), find: whileOpen(search.find) },
    preferences: preferenceStore,
    revocations: revocationStore,
    settings: settingsStore,
    turns: { list: whileOpen(turns.list), count: whileOpen(turns.count), find: whileOpen(turns.find) },
  });
}
