/**
 * Many writes, one commit and one wait for the disk. What is asked for while the event loop is busy is collected, and
 * written in one transaction as soon as the loop comes around; what is asked for while the disk is waited for is
 * collected too, and written after that. Writes keep the order in which they were asked for.
 */
import type { Database } from 'bun:sqlite';
import type { Log } from './log.ts';
import { prepareTransaction } from './transaction.ts';

/** A group that is this large is written at once, inside the call that filled it: the queue cannot grow further. */
const MOST_WRITES = 1_000;
const MOST_CHARACTERS = 16 * 1024 * 1024;

type Asker = { resolve(): void; reject(reason: unknown): void };
type Waiting<Write> = Asker & { readonly write: Write };

export interface GroupCommit<Write> {
  /**
   * Resolves when the write is on the disk. Rejects with what `perform` threw, in which case this write left nothing
   * behind and the others go on; with why the transaction failed, in which case none of the group was kept; or with
   * why the log could not be made durable.
   */
  add(write: Write, characters: number): Promise<void>;
  /** Writes what is waiting, now. Resolves when nothing that was asked for before is under way. */
  flush(): Promise<void>;
  /** Ends with the sync that is under way; null where all that was committed is durable. Never rejects. */
  pending(): Promise<void> | null;
  /** Throws where nothing is taken any more. */
  check(): void;
}

export function groupCommit<Write>(
  database: Database,
  log: Pick<Log, 'sync'>,
  perform: (write: Write) => void,
  /** told the number of writes that each COMMIT kept */
  onCommit: (writes: number) => void,
): GroupCommit<Write> {
  const transaction = prepareTransaction(database);
  let group: Waiting<Write>[] = [];
  let characters = 0;
  /** committed, and not on the disk yet */
  let written: Asker[] = [];
  let syncing: Promise<void> | null = null;
  let scheduled: ReturnType<typeof setImmediate> | null = null;
  /**
   * Why the log could not be made durable. A system may forget after it has said so which pages it did not write: a
   * later success would mean nothing, so nothing is taken until the log was opened and read anew.
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
    onCommit(writing.length - refused.size);
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
        if (group.length >= MOST_WRITES || characters >= MOST_CHARACTERS) writeAndSync();
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
