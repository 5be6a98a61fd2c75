/**
 * Group commit: many writes share one transaction and one sync. Writes requested in the same event loop turn,
 * or during a sync, are collected and written together, in call order.
 */

import type { Database } from 'bun:sqlite';
import type { Log } from './log.ts';

/** A group of this size is written immediately, inside the call that filled it, which bounds the queue. */
const MAX_WRITES = 1_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

type Asker = { resolve(): void; reject(reason: unknown): void };
type Waiting<Write> = Asker & { readonly write: Write };

interface GroupCommit<Write> {
  /**
   * Resolves when the write is on disk. Rejects with the error of `perform`, in which case only this write is
   * undone; with the error of the transaction, in which case nothing of the group is stored; or with the
   * error of the sync.
   */
  add(write: Write, characters: number): Promise<void>;
  /** Writes the queue now. Resolves when all earlier requests are done. */
  flush(): Promise<void>;
  /** Resolves after the current sync; null if all commits are durable. Never rejects. */
  pending(): Promise<void> | null;
  /** Throws if no more writes are accepted. */
  check(): void;
}

type Commits<Write> = {
  readonly log: Pick<Log, 'sync'>;
  perform(write: Write): void;
  /** called with the number of writes of each commit */
  onCommit?(writes: number): void;
};

export function groupCommit<Write>(
  database: Database,
  { log, perform, onCommit }: Commits<Write>,
): GroupCommit<Write> {
  const transaction = prepareTransaction(database);
  let group: Waiting<Write>[] = [];
  let characters = 0;
  /** committed, but not yet synced */
  let written: Asker[] = [];
  let syncing: Promise<void> | null = null;
  let scheduled: ReturnType<typeof setImmediate> | null = null;
  /**
   * Why the log could not be synced. After a failed sync, the system may forget which pages it did not write,
   * so a later success proves nothing: refuse writes until the log has been reopened and read again.
   */
  let broken: { readonly reason: unknown } | null = null;

  function schedule(): void {
    if (!syncing) scheduled ??= setImmediate(writeAndSync);
  }

  function writeAndSync(): void {
    write();
    if (!syncing && written.length > 0) sync();
  }

  function write(): void {
    if (scheduled) clearImmediate(scheduled);
    scheduled = null;
    const writing = group;
    group = [];
    characters = 0;
    if (broken) refuse(writing, broken.reason);
    else if (writing.length > 0) commit(writing);
  }

  function commit(writing: readonly Waiting<Write>[]): void {
    const refused = new Map<Waiting<Write>, unknown>();
    try {
      transaction.run(() => {
        const [only] = writing;
        // The transaction is undone with it.
        if (writing.length === 1 && only) return perform(only.write);
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
      else written.push({ resolve: waiting.resolve, reject: waiting.reject });
    }
    onCommit?.(writing.length - refused.size);
  }

  function sync(): void {
    const kept = written;
    written = [];
    syncing = log.sync().then(
      () => {
        syncing = null;
        for (const asker of kept) asker.resolve();
        if (written.length > 0) sync();
        else if (group.length > 0) schedule();
      },
      (reason) => {
        syncing = null;
        broken ??= { reason };
        refuse(kept, reason);
        refuse(written.splice(0), reason);
        write();
      },
    );
  }

  return {
    add: (write, size) =>
      new Promise((resolve, reject) => {
        group.push({ write, resolve, reject });
        characters += size;
        if (group.length >= MAX_WRITES || characters >= MAX_CHARACTERS) writeAndSync();
        else schedule();
      }),
    flush: () =>
      new Promise((resolve) => {
        write();
        if (!syncing && written.length === 0) return resolve();
        written.push({ resolve, reject: () => resolve() });
        if (!syncing) sync();
      }),
    pending: () => syncing,
    check() {
      if (broken) throw broken.reason;
    },
  };
}

function refuse(askers: readonly Asker[], reason: unknown): void {
  for (const asker of askers) asker.reject(reason);
}

// Transactions whose parts can fail individually.

type Outcome = { ok: true } | { ok: false; error: unknown };

interface Transaction {
  /** Runs the work atomically; throws if it fails. Durable after the caller has synced the log. */
  run(work: () => void): void;
  /** Runs a part that may fail alone. Throws if SQLite has rolled back the whole transaction. */
  attempt(work: () => void): Outcome;
}

function prepareTransaction(database: Database): Transaction {
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
