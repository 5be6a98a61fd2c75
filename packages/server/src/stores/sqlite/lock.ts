/**
 * Allows one server per data folder. The operating system holds the lock for the process, so it is released
 * however the process ends. It uses a separate file, so that other programs can still use the database.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Another server uses the data folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** Returns the release function. Throws `FolderInUse` if another server holds the lock. */
export function lockFolder(folder: string): () => void {
  const path = join(folder, 'parlance.lock');
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new Database(path, { readwrite: true });
  try {
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.run('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close(true);
    if (!isBusy(error)) throw error;
    throw new FolderInUse(`another Parlance server is using ${folder}`, { cause: error });
  }
  return () => database.close(true);
}

const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true;
