/** Messages that are queued behind a running turn. */
import { type DurableEvent, Fault, type SessionEvent } from '@parlance/protocol';
import type { SessionRef, SessionSnapshot, Watch } from '../../../core/api/index.ts';
import type { DialectContext } from '../dialect.ts';
import type { Question } from './question.ts';

type Queued = {
  readonly ref: SessionRef;
  readonly question: Question;
  readonly accepted: DurableEvent<'input.accepted'>;
};

/**
 * Cancels a turn before the queued message as soon as it waits for its caller: the message closes the open calls,
 * as a message does that arrives later. Watches the session until the message is processed or withdrawn.
 */
export async function closeCallsBefore(
  { engine, log }: Pick<DialectContext, 'engine' | 'log'>,
  { ref, question, accepted }: Queued,
): Promise<void> {
  const { principal, dialect } = question;
  let watch: Watch | null = null;
  let isOver = false;
  const cancelWaiting = ({ turn, ...now }: SessionSnapshot) => {
    if (turn === null || !waitsForCaller(now, question)) return;
    engine.send(ref, { type: 'turn.cancel', turn }, { principal, dialect }).catch((thrown: unknown) => {
      // A fault: the turn has ended in the meantime.
      if (!(thrown instanceof Fault)) log.error({ err: thrown, session: ref.id }, 'failed to cancel turn');
    });
  };
  const take = (event: SessionEvent) => {
    isOver ||= isLastOf(accepted, event);
    if (isOver) watch?.stop();
    else if (watch && asksCaller(event)) cancelWaiting(watch.snapshot());
  };
  const begin = (begun: Watch) => {
    watch = begun;
    if (isOver) begun.stop();
    else cancelWaiting(begun.snapshot());
  };
  await engine.watch(ref, take, { after: accepted.seq, begin });
}

/** Callers of some endpoints cannot answer approvals: their messages wait until somebody else has. */
export const waitsForCaller = (
  { deferred, approvals }: Pick<SessionSnapshot, 'deferred' | 'approvals'>,
  question: Question,
): boolean =>
  deferred.length > 0 ||
  (question.approvals !== undefined &&
    approvals.some(({ approval }) => !question.approvals?.some((answer) => answer.approval === approval)));

const asksCaller = ({ type }: SessionEvent): boolean =>
  type === 'call.deferred' || type === 'approval.requested';

/** Whether the message is processed from now on, or never. */
const isLastOf = ({ input }: { readonly input: string }, event: SessionEvent): boolean =>
  event.type === 'session.erased' ||
  ((event.type === 'turn.started' || event.type === 'input.cancelled') && event.input === input);
