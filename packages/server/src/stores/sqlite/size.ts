import type { Database } from 'bun:sqlite';

/** What is in use: pages that were freed are written again before the file grows. Reads the header alone. */
export function prepareSize(database: Database): () => number {
  const statement = database.prepare<{ bytes: number }, []>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  return () => statement.get()?.bytes ?? 0;
}
