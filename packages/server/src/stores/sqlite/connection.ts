/** Opens the database file. Commits are on disk when they return, and only the owner can read it. */
import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isFull } from './errors.ts';
import { lockFolder } from './lock.ts';
import { migrate, type SchemaOptions, stateOf, versionOf } from './migrations.ts';

export const DATABASE_FILE = 'parlance.db';

/** How long a write waits for another process, such as `parlance user` next to a running server. */
export const BUSY_TIMEOUT_MS = 10_000;

/**
 * The commit that grows the log to this length (16 MB) also checkpoints it, which blocks all writers.
 * SQLite's default of 1,000 pages is only a few dozen commits and would copy hot pages each time.
 */
const CHECKPOINT_PAGES = 4_000;

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Restricts an existing data folder to its owner. Skips folders that are not only a data folder (the root, a
 * home, the current folder, a shared one) and folders of other users.
 */
export function closeToOthers(folder: string): void {
  const path = realpathSync(folder);
  const { mode, uid } = statSync(path);
  const isShared = (mode & 0o1000) !== 0 || ['/', process.env.HOME, process.cwd()].includes(path);
  if (isShared || (mode & 0o077) === 0 || uid !== process.getuid?.()) return;
  chmodSync(path, 0o700);
}

/**
 * Throws an error with a one-line message if the folder has an unusable database that was not closed. Opens
 * it read-only: the last writer to close a database checkpoints its log, and this database may not be ours.
 */
export function checkDatabase(folder: string, options: SchemaOptions = {}): void {
  const path = join(folder, DATABASE_FILE);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${path} is not a file`);
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return;
  let database: Database | null = null;
  try {
    database = new Database(path, { readonly: true });
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    versionOf(database, path, options);
  } catch (error) {
    // A dead process left a log that only a writer can recover: try again with write access.
    if (!isReaderRefused(error)) throw notOurs(error, path);
  } finally {
    database?.close(true);
  }
}

const isReaderRefused = (error: unknown): boolean =>
  error instanceof SQLiteError && /^SQLITE_(READONLY|CANTOPEN)/.test(error.code ?? '');

const notOurs = (error: unknown, path: string): unknown =>
  error instanceof SQLiteError && error.code === 'SQLITE_NOTADB'
    ? new Error(`${path} is not a Parlance database`, { cause: error })
    : error;

export type ConnectionOptions = SchemaOptions & {
  /** for servers: the caller has locked the folder */
  readonly exclusive?: boolean;
  /** called before anything is written */
  readonly verify?: (database: Database) => void;
};

/**
 * Throws an error with a one-line message, without changing anything, if the file is not a usable database.
 */
export function openConnection(folder: string, options: ConnectionOptions = {}): Database {
  const path = join(folder, DATABASE_FILE);
  // SQLite creates its other files with the mode of this one
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA foreign_keys = ON');
    versionOf(database, path, options);
    options.verify?.(database);
    upgrade(database, folder, options);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    // The first read creates the log.
    versionOf(database, path, options);
    return database;
  } catch (error) {
    database.close(true);
    throw notOurs(error, path);
  }
}

/**
 * A running server of an older version could not read an upgraded database, so the upgrade waits until it has
 * stopped.
 */
function upgrade(database: Database, folder: string, options: ConnectionOptions): void {
  const path = join(folder, DATABASE_FILE);
  const isShared = !options.exclusive && stateOf(database, path, options) === 'older';
  const unlock = isShared ? lockForUpgrade(folder) : () => undefined;
  try {
    migrate(database, path, options);
  } finally {
    unlock();
  }
}

function lockForUpgrade(folder: string): () => void {
  try {
    return lockFolder(folder);
  } catch (error) {
    throw new Error(
      `${folder} is used by a server of an older version of Parlance: restart the server with this version first`,
      { cause: error },
    );
  }
}

/**
 * Leaves a single file that can be copied, unless another process has the database open or the disk is full:
 * then the log stays next to it and is read at the next start.
 */
export function closeConnection(database: Database): void {
  try {
    database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isFull(error)) throw error;
  } finally {
    database.close(true);
  }
}
