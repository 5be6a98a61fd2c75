/** A transaction whose parts may fail one by one. */
import type { Database } from 'bun:sqlite';

export type Outcome = { ok: true } | { ok: false; error: unknown };

export interface Transaction {
  /** All of the work, or none of it and a throw. It is durable when the log was synced, which the caller sees to. */
  run(work: () => void): void;
  /** A part of the work that may fail by itself. Throws where SQLite gave up the whole transaction for it. */
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
      // Not prepared: SQLite carries out this one when it compiles it. Everyone else's commits wait for the disk.
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
        // a full disk or an I/O error rolls everything back: what follows would be written outside a transaction
        if (!database.inTransaction) throw error;
        undo.run();
        release.run();
        return { ok: false, error };
      }
    },
  };
}
