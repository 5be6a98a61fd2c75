/** Reads and writes sessions, and updates this node's knowledge of its leases. */
import { Fault } from '@parlance/protocol';
import type { Append as AppendOperation, SessionLog, SessionRef } from '../../core/ports/event-store.ts';
import { sessionKey } from '../../core/ports/event-store.ts';
import type { EventOptions } from '../shared/stored-event.ts';
import { storableRef } from '../shared/text.ts';
import { type Append, type Appended, type Appender, appendAll, COMMAND, makeAppend } from './append.ts';
import { appendWithRetry, ownEvent } from './append-with-retry.ts';
import type { Database, Statements } from './database.ts';
import { type GroupAppend, groupAppend, type QueueLimits } from './group-append.ts';
import type { HeldLeases } from './held-leases.ts';
import { prepareRead } from './read.ts';
import { withSessionLock } from './session-lock.ts';

export type EventLogOptions = EventOptions & {
  readonly database: Database;
  readonly held: HeldLeases;
  readonly appender: () => Appender;
  /** the newest event version that all nodes can read */
  readonly writableVersion: () => number;
  readonly onAppend: (characters: number) => void;
  readonly onCommit: (appends: number) => void;
  readonly queue?: QueueLimits;
};

export interface EventLog extends SessionLog {
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
      const outcome = await held.changing(ref, () => groups.apart(sessionKey(ref), () => locked(ref, work)));
      return outcome === 'missing' ? work(plain) : outcome.value;
    },
  };
}
