/** Approximate size of all data in bytes. */
import type { Database } from 'bun:sqlite';

/**
 * Measures the database again after this relative growth, or after this time, because other processes write
 * as well.
 */
const GROWTH = 0.01;
const AGAIN_MS = 1_000;

export interface Size {
  current(): number;
  add(characters: number): void;
  /** Call if data may have been removed. */
  forget(): void;
}

export function prepareSize(database: Database): Size {
  // Counts used pages, since freed pages are reused before the file grows.
  const statement = database.prepare<{ bytes: number }, []>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  let measured = 0;
  let added = 0;
  let nextMeasurement = 0;
  return {
    current() {
      const now = performance.now();
      if (now >= nextMeasurement || added > measured * GROWTH) {
        measured = statement.get()?.bytes ?? 0;
        added = 0;
        nextMeasurement = now + AGAIN_MS;
      }
      return measured + added;
    },
    add(characters) {
      added += characters;
    },
    forget() {
      nextMeasurement = 0;
    },
  };
}
