/**
 * Works on a session while nobody else can append to it: its row is locked in a transaction. The lock ends with the
 * connection, so a node that dies or hangs does not keep it.
 */
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import { CommitUnknown, type Database, inTime, type Statements } from './database.ts';

/** The server ends a transaction that rests for less: work that takes longer has lost its lock. */
const LONGEST_MS = 10_000;

/** `missing`: there is no such session, and nothing was done. */
export type Locked<Result> = { readonly value: Result } | 'missing';

export type LockedWork<Result> = {
  readonly work: (statements: Statements) => Promise<Result>;
  /** Whether what `work` has written is there. Asked if the answer to the commit was lost. */
  readonly isCommitted: () => Promise<boolean>;
};

export async function whileLocked<Result>(
  database: Database,
  ref: SessionRef,
  { work, isCommitted }: LockedWork<Result>,
): Promise<Locked<Result>> {
  let done: Locked<Result> = 'missing';
  try {
    await database.transaction(async (statements) => {
      if (await lockRow(statements, ref)) done = { value: await inTime(work(statements), LONGEST_MS) };
    });
    return done;
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error;
    // Waits for the lock of the first transaction: after that, it is committed or rolled back.
    const committed = database.transaction(async (statements) => {
      await lockRow(statements, ref);
      return isCommitted();
    });
    if (await committed.catch(() => false)) return done;
    throw error;
  }
}

async function lockRow(statements: Statements, ref: SessionRef): Promise<boolean> {
  const { owner, id } = storableRef(ref);
  const found = await statements.query(
    'SELECT row FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3 FOR UPDATE',
    [bucketOf(owner), owner, id],
  );
  return found.length > 0;
}
