/** The embedded store: one SQLite file in the data folder, with group commit. Implements all store ports. */
import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { accountTables } from '../shared/accounts.ts';
import { watchChanges } from '../shared/changes.ts';
import type { Row, SharedDatabase } from '../shared/database.ts';
import { sessionQueries, turnQueries } from '../shared/sessions.ts';
import { closeGuard, guarded, guardedEach, type Store, type Wrap } from '../shared/store.ts';
import { storable } from '../shared/text.ts';
import { usageQueries } from '../shared/usage.ts';
import { checkDatabase, closeConnection, closeToOthers, makeFolder, openConnection } from './connection.ts';
import { storageError, storageFault } from './errors.ts';
import { groupCommit } from './group-commit.ts';
import { LeaseTable, openMemoryLeases, type PlainStore, withLeases } from './leases.ts';
import { FolderInUse, lockFolder } from './lock.ts';
import { checkAcknowledged, isNoted, type Log, openLog } from './log.ts';
import { FLAGS, type SchemaOptions } from './migrations.ts';
import { prepareSearch } from './search.ts';
import { type Append, makeAppend, prepareAppend, prepareErase, prepareRead } from './sessions.ts';
import { type FreeSpace, prepareSize, watchFreeSpace } from './space.ts';

export type SqliteOptions = SchemaOptions & {
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

/** How often writes of other processes, such as `parlance user` next to a running server, are looked for. */
const LOOK_MS = 250;

function storeOn(database: Database, { log, space, unlock, options }: Parts): Store {
  const appends = groupCommit<Append>(database, {
    log,
    perform: prepareAppend(database, options),
    onCommit: options.onCommit,
  });
  const read = prepareRead(database, options);
  const size = prepareSize(database);
  const erase = prepareErase(database);
  const search = prepareSearch(database, read);
  const schemaVersion = database.prepare<{ version: number }, []>(
    'SELECT user_version AS version FROM pragma_user_version',
  );
  // SQLite counts commits of other connections; the query reads no pages.
  const dataVersion = database.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const version = () => dataVersion.get()?.data_version;
  const changes = watchChanges({ version, seen: version(), everyMs: LOOK_MS });
  const shared = sharedDatabase(database, changes.notify);
  const { touch, ...sessions } = sessionQueries(shared);
  const { users, revocations, ...accounts } = accountTables(shared);
  const { whileOpen, close } = closeGuard(storageFault);
  /** Unsynced data can still be lost, so reads wait until it is durable. */
  const whenDurable: Wrap = <Arguments extends unknown[], Result>(read: (...given: Arguments) => Result) => {
    const readNow = whileOpen(read);
    return async (...given: Arguments): Promise<Awaited<Result>> => {
      for (let pending = appends.pending(); pending; pending = appends.pending()) await pending;
      return await readNow(...given);
    };
  };
  const writes: Pick<PlainStore, 'append' | 'writable' | 'touch'> & { erase(ref: SessionRef): boolean } = {
    append(expected, events, record) {
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
    },
    async writable() {
      await space.check();
      appends.check();
      // Writes the unchanged version: writes a page to disk without changing anything.
      database.run(`PRAGMA user_version = ${schemaVersion.get()?.version ?? 0}`);
    },
    async touch(ref, at) {
      // A record written later has its own time.
      void appends.flush();
      await touch(ref, at);
    },
    erase(ref) {
      // Write earlier requests first.
      void appends.flush();
      size.forget();
      log.forget(ref);
      return erase(ref);
    },
  };
  const plain: PlainStore = {
    ...guarded({ ...sessions, read }, whenDurable),
    heads: whenDurable((refs: readonly SessionRef[]) => Promise.all(refs.map(sessions.head))),
    ...guarded({ ...writes, size: size.current }, whileOpen),
    /** Writes the queue first. Closing twice does nothing. */
    async close() {
      if (!close()) return;
      changes.stop();
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
  // A folder belongs to one node, so its leases need no table.
  const leases = openMemoryLeases(new LeaseTable(), plain, options);
  return {
    ...guarded(users, whileOpen),
    ...withLeases(plain, leases),
    ...guardedEach(accounts, whileOpen),
    leases,
    nodes: whileOpen(leases.nodes),
    search: guarded(search, whenDurable),
    turns: guarded(turnQueries(shared), whenDurable),
    usage: guarded(usageQueries(shared), whenDurable),
    revocations: { ...guarded(revocations, whileOpen), follow: changes.follow },
  };
}

export function sharedDatabase(database: Database, changed: () => void): SharedDatabase {
  const prepared = new Map<string, Statement<Row, SQLQueryBindings[]>>();
  function rows(sql: string, values: readonly unknown[] = []): Row[] {
    // To SQLite, `$1` is a name.
    const statement = prepared.get(sql) ?? database.prepare(sql.replaceAll(/\$(?=\d)/g, '?'));
    prepared.set(sql, statement);
    return statement.all(...(values as SQLQueryBindings[]));
  }
  return {
    query: async (sql, values) => rows(sql, values),
    async change(sql, values) {
      const isChanged = rows(sql, values).length > 0;
      if (isChanged) changed();
      return isChanged;
    },
    // IMMEDIATE: no other process writes before the end.
    atomically: async (statements) =>
      database
        .transaction(() => {
          const running = statements();
          let step = running.next();
          while (!step.done) step = running.next(rows(...step.value));
          return step.value;
        })
        .immediate(),
    dialect: {
      lock: '',
      now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
      position: 'instr',
      elements: { tags: 'json_each(tags)', labels: 'json_each(labels)' },
      titled: (grams) => `SELECT rowid AS candidate FROM title_grams WHERE title_grams MATCH ${grams}`,
      ...FLAGS,
      key: ['owner', 'id'],
      keyOf: (ref) => [storable(ref.owner), storable(ref.id)],
      // SQLite merges SELECTs whose rows have the order of the whole.
      merge: (selects) => selects.join(' UNION ALL '),
    },
  };
}
