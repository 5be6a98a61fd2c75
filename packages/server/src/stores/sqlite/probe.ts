import type { Database } from 'bun:sqlite';

/** Writes the unchanged version: writes a page to disk without changing anything. */
export function prepareProbe(database: Database): () => void {
  const version = database.prepare<{ version: number }, []>(
    'SELECT user_version AS version FROM pragma_user_version',
  );
  return () => {
    database.run(`PRAGMA user_version = ${version.get()?.version ?? 0}`);
  };
}
