/** Lets one process at a time prepare the database: apply migrations, create the first user. */
import type { Database, Statements } from './database.ts';
import { shownUrl } from './errors.ts';

/** "Parl" in ASCII. */
const LOCK = 0x5061726c;
const AGAIN_MS = 50;
const PATIENCE_MS = 120_000;

/**
 * Polls for the lock instead of waiting in the database: a waiting statement would block CREATE INDEX
 * CONCURRENTLY of the holder. The lock ends with its connection.
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
        throw new Error(`${shownUrl(url)} has been locked by the upgrade of another node for too long`);
      await Bun.sleep(AGAIN_MS);
    }
    try {
      return await work(statements);
    } finally {
      await statements.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    }
  });
}
