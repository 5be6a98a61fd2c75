/**
 * Many writes, one fsync. What is asked for while the event loop is busy is collected, and written in one
 * transaction as soon as the loop comes around. Writes keep the order in which they were asked for.
 */
import type { Database } from 'bun:sqlite';

/** A group that is this large is written at once, inside the call that filled it: the queue cannot grow further. */
const MOST_WRITES = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

type Waiting<Write> = { readonly write: Write; resolve(): void; reject(reason: unknown): void };

export interface GroupCommit<Write> {
  /**
   * Resolves after the COMMIT. Rejects with what `perform` threw, in which case this write left nothing behind
   * and the others go on; or with why the transaction failed, in which case none of the group was kept.
   */
  add(write: Write, characters: number): Promise<void>;
  /** Writes what is waiting, now. */
  flush(): void;
}

export function groupCommit<Write>(
  database: Database,
  perform: (write: Write) => void,
  /** told the number of writes that each COMMIT kept */
  onCommit: (writes: number) => void,
): GroupCommit<Write> {
  const transaction = prepareTransaction(database);
  let group: Waiting<Write>[] = [];
  let characters = 0;
  let scheduled: ReturnType<typeof setImmediate> | null = null;

  function flush(): void {
    if (scheduled) clearImmediate(scheduled);
    scheduled = null;
    const writing = group;
    group = [];
    characters = 0;
    if (writing.length > 0) settle(writing);
  }

  function settle(writing: readonly Waiting<Write>[]): void {
    const refused = new Map<Waiting<Write>, unknown>();
    try {
      transaction.run(() => {
        for (const waiting of writing) {
          const outcome = transaction.attempt(() => perform(waiting.write));
          if (!outcome.ok) refused.set(waiting, outcome.error);
        }
      });
    } catch (error) {
      for (const waiting of writing) waiting.reject(refused.get(waiting) ?? error);
      return;
    }
    for (const waiting of writing) {
      if (refused.has(waiting)) waiting.reject(refused.get(waiting));
      else waiting.resolve();
    }
    onCommit(writing.length - refused.size);
  }

  return {
    add: (write, size) =>
      new Promise((resolve, reject) => {
        group.push({ write, resolve, reject });
        characters += size;
        if (group.length >= MOST_WRITES || characters >= MOST_CHARACTERS) flush();
        else scheduled ??= setImmediate(flush);
      }),
    flush,
  };
}

type Outcome = { ok: true } | { ok: false; error: unknown };

function prepareTransaction(database: Database) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const mark = database.prepare('SAVEPOINT attempt');
  const release = database.prepare('RELEASE attempt');
  const undo = database.prepare('ROLLBACK TO attempt');

  return {
    /** All of the work, or none of it and a throw. */
    run(work: () => void): void {
      begin.run();
      try {
        work();
        commit.run();
      } catch (error) {
        if (database.inTransaction) rollback.run();
        throw error;
      }
    },

    /** A part of the work that may fail by itself. Throws where SQLite gave up the whole transaction for it. */
    attempt(work: () => void): Outcome {
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
