/** The database file: opened so that a commit is on disk when it returns, and no one else can read it. */
import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EventOptions } from '../shared/stored-event.ts';
import { isFull } from './errors.ts';
import { lockFolder } from './lock.ts';
import { migrate, stateOf, versionOf } from './migrations.ts';

export const DATABASE_FILE = 'parlance.db';

/** How long a write waits for another process, such as `parlance user` beside a running server. */
export const BUSY_TIMEOUT_MS = 10_000;

/**
 * The commit that makes the log this long (16 MB) also moves it into the database, while everyone waits. SQLite's own
 * thousand pages are a few dozen commits: pages that are written again and again would be moved each time.
 */
const CHECKPOINT_PAGES = 4_000;

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Closes an existing data folder to others. Left alone are folders that are plainly more than a data folder (the root of the file
 * system, a home, the current folder, one that many share), and those of another user.
 */
export function closeToOthers(folder: string): void {
  const path = realpathSync(folder);
  const { mode, uid } = statSync(path);
  const isShared = (mode & 0o1000) !== 0 || ['/', process.env.HOME, process.cwd()].includes(path);
  if (isShared || (mode & 0o077) === 0 || uid !== process.getuid?.()) return;
  chmodSync(path, 0o700);
}

/**
 * Throws one clear error where there is a database that we cannot use and that was not closed. Asked without the right
 * to write: the last to close a database that it may write to moves what is in the file beside it, and it is not ours.
 */
export function checkDatabase(folder: string, options: EventOptions = {}): void {
  const path = join(folder, DATABASE_FILE);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${path} is not a file`);
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return;
  let database: Database | null = null;
  try {
    database = new Database(path, { readonly: true });
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    versionOf(database, path, options);
  } catch (error) {
    // a process that died has left something to do first, which a reader may not: who may write is asked again
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

export type ConnectionOptions = EventOptions & {
  /** for servers: the caller has locked the folder */
  readonly exclusive?: boolean;
};

/** Throws one clear error, and has changed nothing, where the file is not a database that we can use. */
export function openConnection(folder: string, options: ConnectionOptions = {}): Database {
  const path = join(folder, DATABASE_FILE);
  // SQLite gives its other files the mode of this one
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA foreign_keys = ON');
    upgrade(database, folder, options);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    // With the first read the log is there.
    versionOf(database, path, options);
    return database;
  } catch (error) {
    database.close(true);
    throw notOurs(error, path);
  }
}

/** A running server of an older version could not read its own database any more: an upgrade waits until it is gone. */
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
 * Leaves one file behind that can be copied, unless another process still has the database open or the disk is full:
 * then what was written stays in the file beside it, and is found there at the next start.
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
