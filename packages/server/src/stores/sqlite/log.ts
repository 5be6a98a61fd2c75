/**
 * The log beside the database, into which a commit is written. SQLite can make it durable itself, and does so for
 * everything but appends; but it waits for the disk then, and with it everyone whose tokens are on their way. Here the
 * disk is waited for on another thread.
 */
import fs, { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from './connection.ts';

export interface Log {
  /** Resolves when all that was committed before the call is on the disk. */
  sync(): Promise<void>;
  close(): void;
}

/** To be called when the database is open: the log is there until it is closed. */
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
