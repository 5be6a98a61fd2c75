/** Creates a consistent copy of the database, even while a server writes to it. */
import { Database } from 'bun:sqlite';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { BUSY_TIMEOUT_MS, DATABASE_FILE } from './connection.ts';
import { storageError } from './errors.ts';
import { versionOf } from './migrations.ts';

export type Contents = { readonly sessions: number; readonly events: number };

/**
 * Copies the database of the data folder to `target`, which must not exist. The copy contains everything
 * acknowledged before the call. Only reads the source, without upgrading it. Throws an error with a one-line
 * message.
 */
export function copyDatabase(folder: string, target: string): void {
  const path = join(folder, DATABASE_FILE);
  if (!existsSync(path)) throw new Error(`no database in ${folder}`);
  using source = openToRead(path);
  // SQLite writes into the empty file and keeps its mode.
  const file = attempt(target, () => openSync(target, 'wx', 0o600));
  closeSync(file);
  attempt(target, () => {
    using copy = source.prepare<unknown, [string]>('VACUUM INTO ?');
    copy.run(target);
  });
}

/**
 * Checks the whole database file without changing it. Throws an error with a one-line message if it is
 * damaged.
 */
export function checkedContents(path: string): Contents {
  using database = openToRead(path);
  return attempt(path, () => {
    const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get();
    if (found?.integrity_check !== 'ok')
      throw damaged(path, found?.integrity_check ?? 'it cannot be checked');
    for (const [reason, sql] of Object.entries(RULES)) {
      const count = numberFrom(database, sql);
      if (count > 0) throw damaged(path, `${reason}: ${count}`);
    }
    return {
      sessions: numberFrom(database, 'SELECT count(*) AS value FROM sessions'),
      events: numberFrom(database, 'SELECT count(*) AS value FROM events'),
    };
  });
}

const RULES: Readonly<Record<string, string>> = {
  'rows without a parent': 'SELECT count(*) AS value FROM pragma_foreign_key_check',
  'sessions with lost events': `
    SELECT count(*) AS value FROM sessions
    WHERE head <> (SELECT count(*) FROM events WHERE session = row)
      OR head <> (SELECT max(seq) FROM events WHERE session = row)`,
  'events that are not JSON': 'SELECT count(*) AS value FROM events WHERE NOT json_valid(body)',
};

const damaged = (path: string, reason: string): Error =>
  new Error(`${path} is damaged: ${reason.replaceAll('\n', ' ')}`);

function openToRead(path: string): Database {
  return attempt(path, () => {
    const database = new Database(path, { readonly: true });
    try {
      database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      if (versionOf(database, path) === 0) throw new Error(`${path} is not a Parlance database`);
      return database;
    } catch (error) {
      database.close(true);
      throw error;
    }
  });
}

function attempt<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storageError(error, path);
  }
}

const numberFrom = (database: Database, sql: string): number =>
  database.query<{ value: number }, []>(sql).get()?.value ?? 0;
