/** Approximate size of all data in bytes. */
import type { Statements } from './database.ts';

/** Measures the database again after this time, because other nodes write as well. */
const AGAIN_MS = 5_000;

export interface Size {
  current(): Promise<number>;
  add(characters: number): void;
  /** Call if data may have been removed. */
  forget(): void;
}

export function prepareSize(database: Statements): Size {
  let measured = 0;
  let added = 0;
  let askAgain = 0;
  let asking: Promise<void> | null = null;

  async function ask(): Promise<void> {
    const before = added;
    const [row] = await database.query(
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    );
    measured = Number(row?.bytes ?? 0);
    // appends during the measurement may or may not be included
    added -= before;
    askAgain = performance.now() + AGAIN_MS;
  }

  return {
    async current() {
      if (performance.now() >= askAgain) {
        asking ??= ask().finally(() => {
          asking = null;
        });
        await asking;
      }
      return measured + added;
    },
    add(characters) {
      added += characters;
    },
    forget() {
      askAgain = 0;
    },
  };
}
