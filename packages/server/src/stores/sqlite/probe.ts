import type { Database } from 'bun:sqlite';

/** The version is written as it is: a page goes to the disk, and nothing has changed. */
export function prepareProbe(database: Database): () => void {
  const version = database.prepare<{ version: number }, []>(
    'SELECT user_version AS version FROM pragma_user_version',
  );
  return () => {
    database.run(`PRAGMA user_version = ${version.get()?.version ?? 0}`);
  };
}
