/** One process at a time prepares the database: applies migrations, creates the first user. */
import type { Database, Statements } from './database.ts';
import { shownUrl } from './errors.ts';

/** "Parl" in ASCII. */
const LOCK = 0x5061726c;
const AGAIN_MS = 50;
const PATIENCE_MS = 120_000;

/**
 * Asks for the lock again and again instead of waiting in the database: a waiting statement would keep CREATE INDEX
 * CONCURRENTLY of the holder from ending. The lock ends with its connection.
 */
export function withStartLock<Result>(
  database: Database,
  url: string,
  work: (statements: Statements) => Promise<Result>,
): Promise<Result> {
  return database.onOne(async (statements) => {
    const giveUp = performance.now() + PATIENCE_MS;
    for (;;) {
      const [row] = await statements.query('SELECT pg_try_advisory_lock($1) AS locked', [LOCK]);
      if (row?.locked) break;
      if (performance.now() > giveUp)
        throw new Error(`${shownUrl(url)} is being upgraded by another node for too long`);
      await Bun.sleep(AGAIN_MS);
    }
    try {
      return await work(statements);
    } finally {
      await statements.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    }
  });
}
