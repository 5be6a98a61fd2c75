/** Reads and writes sessions, and updates this node's knowledge of its leases. */

import { Fault } from '@parlance/protocol';
import {
  type Append as AppendOperation,
  type SessionLog,
  type SessionRef,
  sessionKey,
} from '../../core/ports/event-store.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import {
  type Append,
  type Appended,
  type Appender,
  appendAll,
  appendWithRetry,
  COMMAND,
  makeAppend,
  ownEvent,
} from './append.ts';
import { CommitUnknown, type Database, inTime, type Statements } from './database.ts';
import { type GroupAppend, groupAppend, type QueueLimits } from './group-append.ts';
import type { HeldLeases } from './held-leases.ts';
import { bucketOf, prepareRead } from './sessions.ts';

type EventLogOptions = EventOptions & {
  readonly database: Database;
  readonly held: HeldLeases;
  readonly appender: () => Appender;
  /** the newest event version that all nodes can read */
  readonly writableVersion: () => number;
  readonly onAppend: (characters: number) => void;
  readonly onCommit: (appends: number) => void;
  readonly queue?: QueueLimits;
};

interface EventLog extends SessionLog {
  readonly groups: GroupAppend;
  exclusively<Result>(ref: SessionRef, work: (log: SessionLog) => Promise<Result>): Promise<Result>;
}

const tooNew = () =>
  new Fault('storage_unavailable', 'This requires all nodes of the cluster to run the new version.');

export function openEventLog(options: EventLogOptions): EventLog {
  const { database, held, appender, onAppend, onCommit, queue } = options;

  function learn(append: Append, answer: Appended | undefined): void {
    if (answer?.written) held.learn(append.ref, answer.row, answer.driver);
  }

  const groups = groupAppend({
    async write(group) {
      const answers = await appendWithRetry(database, group, appender());
      for (const [index, append] of group.entries()) learn(append, answers[index]);
      return answers;
    },
    onCommit,
    limits: queue,
  });

  const made = (...[expected, events, record, as = COMMAND]: Parameters<AppendOperation>): Append => {
    const append = makeAppend({ expected, record, as }, events, options);
    if (append.versions.some((version) => version > options.writableVersion())) throw tooNew();
    onAppend(append.characters);
    return append;
  };
  const plain: SessionLog = {
    append: (...given) => {
      const append = made(...given);
      return held.changing(append.ref, () => groups.add(append));
    },
    read: prepareRead(database, options),
  };

  async function locked<Result>(ref: SessionRef, work: (log: SessionLog) => Promise<Result>) {
    const written: { readonly append: Append; readonly answer: Appended }[] = [];
    const outcome = await withSessionLock(database, ref, {
      work: (statements) => work(inside(statements, written)),
      async isCommitted() {
        const last = written.at(-1);
        return last === undefined || (await ownEvent(database, last.append)) !== null;
      },
    });
    for (const { append, answer } of written) learn(append, answer);
    return outcome;
  }

  const inside = (
    statements: Statements,
    written: { readonly append: Append; readonly answer: Appended }[],
  ): SessionLog => ({
    read: prepareRead(statements, options),
    async append(...given) {
      const append = made(...given);
      const [answer] = await appendAll(statements, [append], appender());
      if (!answer?.written)
        throw answer?.reason ?? new Error('the database returned no result for an append');
      written.push({ append, answer });
      return answer.driver;
    },
  });

  return {
    ...plain,
    groups,
    async exclusively(given, work) {
      const ref = storableRef(given);
      const outcome = await held.changing(ref, () =>
        groups.runExclusive(sessionKey(ref), () => locked(ref, work)),
      );
      return outcome === 'missing' ? work(plain) : outcome.value;
    },
  };
}

// Exclusive access to a session: locks its row in a transaction. The lock ends with the connection, so a node
// that dies or hangs does not keep it.

/** The server ends an idle transaction earlier: work that takes longer has lost its lock. */
const MAX_TRANSACTION_MS = 10_000;

/** `missing`: the session does not exist, and nothing was done. */
type LockResult<Result> = { readonly value: Result } | 'missing';

type LockedWork<Result> = {
  readonly work: (statements: Statements) => Promise<Result>;
  /** Whether the writes of `work` are in the database. Called if the response to the commit was lost. */
  readonly isCommitted: () => Promise<boolean>;
};

async function withSessionLock<Result>(
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
