/** Transactions whose parts can fail individually. */
import type { Database } from 'bun:sqlite';

export type Outcome = { ok: true } | { ok: false; error: unknown };

export interface Transaction {
  /** Runs the work atomically; throws if it fails. Durable after the caller has synced the log. */
  run(work: () => void): void;
  /** Runs a part that may fail alone. Throws if SQLite has rolled back the whole transaction. */
  attempt(work: () => void): Outcome;
}

export function prepareTransaction(database: Database): Transaction {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const mark = database.prepare('SAVEPOINT attempt');
  const release = database.prepare('RELEASE attempt');
  const undo = database.prepare('ROLLBACK TO attempt');

  return {
    run(work) {
      // Not prepared: SQLite executes this pragma when compiling it. All other commits sync themselves.
      database.run('PRAGMA synchronous = NORMAL');
      try {
        begin.run();
        work();
        commit.run();
      } catch (error) {
        if (database.inTransaction) rollback.run();
        throw error;
      } finally {
        database.run('PRAGMA synchronous = FULL');
      }
    },

    attempt(work) {
      mark.run();
      try {
        work();
        release.run();
        return { ok: true };
      } catch (error) {
        // A full disk or an I/O error rolls back everything: later statements would run outside of a
        // transaction.
        if (!database.inTransaction) throw error;
        undo.run();
        release.run();
        return { ok: false, error };
      }
    },
  };
}
