/**
 * Syncs the write-ahead log. SQLite syncs it itself for everything except appends, but that blocks the main
 * thread and with it all streams. Here, a worker thread waits for the disk.
 */
import fs, { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from './connection.ts';

export interface Log {
  /** Resolves when everything committed before the call is on disk. */
  sync(): Promise<void>;
  close(): void;
}

/** Call while the database is open, since closing it removes the log. */
export function openLog(folder: string): Log {
  const file = openSync(join(folder, `${DATABASE_FILE}-wal`), 'r+');
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fs.fdatasync(file, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => closeSync(file),
  };
}
