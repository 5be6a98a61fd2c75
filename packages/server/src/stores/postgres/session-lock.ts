/**
 * Exclusive access to a session: locks its row in a transaction. The lock ends with the connection, so a node
 * that dies or hangs does not keep it.
 */
import type { SessionRef } from '../../core/ports/event-store.ts';
import { storableRef } from '../shared/text.ts';
import { bucketOf } from './bucket.ts';
import { CommitUnknown, type Database, inTime, type Statements } from './database.ts';

/** The server ends an idle transaction earlier: work that takes longer has lost its lock. */
const MAX_TRANSACTION_MS = 10_000;

/** `missing`: the session does not exist, and nothing was done. */
export type LockResult<Result> = { readonly value: Result } | 'missing';

export type LockedWork<Result> = {
  readonly work: (statements: Statements) => Promise<Result>;
  /** Whether the writes of `work` are in the database. Called if the response to the commit was lost. */
  readonly isCommitted: () => Promise<boolean>;
};

export async function withSessionLock<Result>(
  database: Database,
  ref: SessionRef,
  { work, isCommitted }: LockedWork<Result>,
): Promise<LockResult<Result>> {
  let done: LockResult<Result> = 'missing';
  try {
    await database.transaction(async (statements) => {
      if (await lockRow(statements, ref))
        done = { value: await inTime(work(statements), MAX_TRANSACTION_MS) };
    });
    return done;
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error;
    // Waits for the lock of the first transaction, which is then either committed or rolled back.
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
