/** The embedded store: one SQLite file in the data folder, with group commit. Implements all store ports. */
import type { Database } from 'bun:sqlite';
import type { ApiKeyStore } from '../../core/ports/api-keys.ts';
import type { PairingStore } from '../../core/ports/pairings.ts';
import type { PreferenceStore } from '../../core/ports/preferences.ts';
import type { RevocationStore } from '../../core/ports/revocations.ts';
import type { SettingsStore } from '../../core/ports/settings.ts';
import type { UserStore } from '../../core/ports/users.ts';
import { LeaseTable, openMemoryLeases } from '../memory/leases.ts';
import { type PlainStore, withLeases } from '../memory/with-leases.ts';
import { closeGuard } from '../shared/close-guard.ts';
import { combineStores, type Store } from '../shared/combine-stores.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { prepareApiKeys } from './api-keys.ts';
import { type Append, makeAppend, prepareAppend } from './append.ts';
import { watchChanges } from './change-watcher.ts';
import { checkDatabase, closeConnection, closeToOthers, makeFolder, openConnection } from './connection.ts';
import { prepareCount } from './count.ts';
import { prepareErase } from './erase.ts';
import { storageError, withFaults } from './errors.ts';
import { prepareFindById } from './find-by-id.ts';
import { type FreeSpace, watchFreeSpace } from './free-space.ts';
import { groupCommit } from './group-commit.ts';
import { prepareHead } from './head.ts';
import { prepareList } from './list.ts';
import { prepareLoad } from './load.ts';
import { FolderInUse, lockFolder } from './lock.ts';
import { checkAcknowledged, isNoted, type Log, openLog } from './log.ts';
import { prepareLookup } from './lookup.ts';
import { preparePairings } from './pairings.ts';
import { preparePreferences } from './preferences.ts';
import { prepareProbe } from './probe.ts';
import { prepareRead } from './read.ts';
import { prepareRevocations } from './revocations.ts';
import { prepareSearch } from './search.ts';
import { prepareSettings } from './settings.ts';
import { prepareShares } from './shares.ts';
import { prepareSize } from './size.ts';
import { prepareTags } from './tags.ts';
import { prepareTouch } from './touch.ts';
import { prepareTurns } from './turns.ts';
import { prepareUsers } from './users.ts';

export type SqliteOptions = EventOptions & {
  /** for servers: excludes other servers and upgrades of the database */
  readonly exclusive?: boolean;
  /** Parlance version, for operators */
  readonly release?: string;
  /** called with the number of appends of each commit */
  readonly onCommit?: (appends: number) => void;
};

/**
 * Throws an error with a one-line message, without changing anything, if the folder is in use by another
 * server or unusable, or its database is not ours, too new or damaged.
 */
export function openSqliteStore(folder: string, options: SqliteOptions = {}): Store {
  try {
    makeFolder(folder);
    checkDatabase(folder, options);
    const unlock = options.exclusive ? lockFolder(folder) : () => undefined;
    try {
      closeToOthers(folder);
      return opened(folder, unlock, options);
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw storageError(error, folder);
  }
}

function opened(folder: string, unlock: () => void, options: SqliteOptions): Store {
  const database = openVerified(folder, options);
  let log: Log | null = null;
  try {
    log = openLog(folder);
    return storeOn(database, { log, space: watchFreeSpace(folder), unlock, options });
  } catch (error) {
    log?.close(false);
    database.close(false);
    throw error;
  }
}

/** A server that runs has verified the log, which changes while it is read here. */
function openVerified(folder: string, options: SqliteOptions): Database {
  if (!isNoted(folder)) return openConnection(folder, options);
  let unlock: () => void;
  try {
    unlock = options.exclusive ? () => undefined : lockFolder(folder);
  } catch (error) {
    if (error instanceof FolderInUse) return openConnection(folder, options);
    throw error;
  }
  try {
    const { lost } = checkAcknowledged(folder);
    return openConnection(folder, { ...options, verify: lost, exclusive: true });
  } finally {
    unlock();
  }
}

type Parts = {
  readonly log: Log;
  readonly space: FreeSpace;
  readonly unlock: () => void;
  readonly options: SqliteOptions;
};

function storeOn(database: Database, { log, space, unlock, options }: Parts): Store {
  const appends = groupCommit<Append>(database, {
    log,
    perform: prepareAppend(database, options),
    onCommit: options.onCommit,
  });
  const probe = prepareProbe(database);
  const read = prepareRead(database, options);
  const turns = prepareTurns(database);
  const search = prepareSearch(database, read, turns);
  const shares = prepareShares(database);
  const head = prepareHead(database);
  const size = prepareSize(database);
  const touch = prepareTouch(database);
  const erase = prepareErase(database);
  const users = prepareUsers(database);
  const apiKeys = prepareApiKeys(database);
  const pairings = preparePairings(database);
  const preferences = preparePreferences(database);
  const revocations = prepareRevocations(database);
  const settings = prepareSettings(database);
  const writes = watchChanges(database);
  const { whileOpen: unlessClosed, close } = closeGuard();
  const whileOpen = <Arguments extends unknown[], Result>(operation: (...given: Arguments) => Result) =>
    unlessClosed(withFaults(operation));
  /** Unsynced data can still be lost, so reads wait until it is durable. */
  const whenDurable = <Arguments extends unknown[], Result>(read: (...given: Arguments) => Result) => {
    const readNow = whileOpen(read);
    return async (...given: Arguments) => {
      for (let pending = appends.pending(); pending; pending = appends.pending()) await pending;
      return readNow(...given);
    };
  };

  const eventStore: PlainStore = {
    append: whileOpen((expected, events, record) => {
      const append = makeAppend(expected, events, record);
      const characters = append.events.reduce((sum, { body }) => sum + body.length, 0);
      size.add(characters);
      const kept = appends.add(append, characters);
      kept.then(
        () => {
          log.acknowledged(record.ref, record.head);
          space.kept(characters);
        },
        (error) => space.failed(error, characters),
      );
      return kept;
    }),
    read: whenDurable(read),
    head: whenDurable(head),
    heads: whenDurable((refs) => refs.map(head)),
    load: whenDurable(prepareLoad(database)),
    findById: whenDurable(prepareFindById(database)),
    lookup: whenDurable(prepareLookup(database)),
    list: whenDurable(prepareList(database)),
    count: whenDurable(prepareCount(database)),
    tags: whenDurable(prepareTags(database)),
    writable: whileOpen(async () => {
      await space.check();
      appends.check();
      probe();
    }),
    size: whileOpen(size.current),
    touch: whileOpen((ref, at) => {
      // A record written later has its own time.
      void appends.flush();
      touch(ref, at);
    }),
    erase: whileOpen((ref) => {
      // Write earlier requests first.
      void appends.flush();
      size.forget();
      log.forget(ref);
      return erase(ref);
    }),
    /** Writes the queue first. Closing twice does nothing. */
    async close() {
      if (!close()) return;
      writes.stop();
      let isComplete = false;
      try {
        await appends.flush();
        closeConnection(database);
        isComplete = options.exclusive === true;
      } finally {
        log.close(isComplete);
        unlock();
      }
    },
  };
  const userStore: UserStore = {
    find: whileOpen(users.find),
    everyone: whileOpen(users.everyone),
    put: whileOpen((user) => {
      users.put(user);
      writes.notify();
    }),
    remove: whileOpen((name) => {
      const removed = users.remove(name);
      if (removed) writes.notify();
      return removed;
    }),
  };
  const apiKeyStore: ApiKeyStore = {
    find: whileOpen(apiKeys.find),
    list: whileOpen(apiKeys.list),
    add: whileOpen(apiKeys.add),
    remove: whileOpen((id, owner) => {
      const removed = apiKeys.remove(id, owner);
      if (removed) writes.notify();
      return removed;
    }),
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
    remove: whileOpen((id, owner) => {
      const removed = pairings.remove(id, owner);
      if (removed) writes.notify();
      return removed;
    }),
    used: whileOpen(pairings.used),
  };
  const preferenceStore: PreferenceStore = {
    get: whileOpen(preferences.get),
    put: whileOpen(preferences.put),
  };
  const revocationStore: RevocationStore = {
    add: whileOpen(revocations.add),
    has: whileOpen(revocations.has),
    list: whileOpen(revocations.list),
    follow: writes.follow,
  };
  const settingsStore: SettingsStore = {
    read: whileOpen(settings.read),
    write: whileOpen((name, value, expected) => {
      const written = settings.write(name, value, expected);
      if (written) writes.notify();
      return written;
    }),
  };
  // A folder belongs to one node, so its leases need no table.
  const leases = openMemoryLeases(new LeaseTable(), eventStore, options);
  const events = withLeases(eventStore, leases);
  return combineStores(events, userStore, {
    apiKeys: apiKeyStore,
    leases,
    nodes: whileOpen(leases.nodes),
    pairings: pairingStore,
    shares: {
      find: whileOpen(shares.find),
      list: whileOpen(shares.list),
      add: whileOpen(shares.add),
      remove: whileOpen(shares.remove),
    },
    search: { update: whenDurable(search.update), find: whenDurable(search.find) },
    preferences: preferenceStore,
    revocations: revocationStore,
    settings: settingsStore,
    turns: {
      list: whenDurable(turns.list),
      count: whenDurable(turns.count),
      find: whenDurable(turns.find),
    },
  });
}
