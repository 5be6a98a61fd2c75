/**
 * The log beside the database, into which a commit is written. SQLite can make it durable itself, and does so for
 * everything but appends; but it waits for the disk then, and with it everyone whose tokens are on their way. Here the
 * disk is waited for on another thread.
 */
import fs, { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FILE } from './connection.ts';

export interface Log {
  /** Resolves when all that was committed before the call is on the disk. To be called after a commit. */
  sync(): Promise<void>;
  close(): void;
}

export function openLog(folder: string): Log {
  /** SQLite makes the log with the first commit, and keeps it until the database is closed. */
  let file: number | null = null;
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        file ??= openSync(join(folder, `${DATABASE_FILE}-wal`), 'r+');
        fs.fdatasync(file, (error) => (error ? reject(error) : resolve()));
      }),
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
