/** The database file: opened so that a commit is on disk when it returns, and no one else can read it. */
import { Database, SQLiteError } from 'bun:sqlite';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from './migrations.ts';

export const DATABASE_FILE = 'parlance.db';

/** How long a write waits for another process, such as `parlance user` beside a running server. */
const BUSY_TIMEOUT_MS = 10_000;

export function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Throws one clear error, and has changed nothing, where the file is not a database that we can use. */
export function openConnection(folder: string): Database {
  const path = join(folder, DATABASE_FILE);
  // SQLite gives its other files the mode of this one
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA foreign_keys = ON');
    migrate(database, path);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    return database;
  } catch (error) {
    database.close(true);
    if (!(error instanceof SQLiteError) || error.code !== 'SQLITE_NOTADB') throw error;
    throw new Error(`${path} is not a Parlance database`, { cause: error });
  }
}

/** Leaves one file behind that can be copied, unless another process still has the database open. */
export function closeConnection(database: Database): void {
  try {
    database.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close(true);
  }
}
