/** Ends a turn that succeeds or fails. Cancelling is decided in `domain/decide.ts`. */
import { asFault, type DurableEventBody } from '@parlance/protocol';
import type { NextAction } from '../domain/next-action.ts';
import type { SessionState } from '../domain/session-state.ts';
import { abortedCalls, closedBlock, unknownOutcome } from '../domain/turn-events.ts';
import { type ActiveTurn, record } from './active-turn.ts';
import { contextAfter, readContext, useOf, withContextUse } from './context-use.ts';
import { streamedSoFar } from './open-block.ts';
import { titleSession } from './titles.ts';

/** Records the last events of the turn together with its end. */
export async function endTurn(
  active: ActiveTurn,
  events: readonly DurableEventBody[],
  end: Partial<Pick<DurableEventBody<'turn.ended'>, 'usage' | 'paused'>> = {},
): Promise<void> {
  const { session, deps, turn } = active;
  const context = useOf(contextAfter(await session.context(), events), session, deps);
  const durationMs = deps.now() - turn.startedAt;
  const ended = {
    type: 'turn.ended',
    turn: turn.id,
    usage: turn.usage,
    durationMs,
    context,
    ...end,
  } as const;
  await record(active, [...events, ended]);
  void titleSession(session, deps, events);
}

/**
 * Records that the turn failed. If that cannot be stored either, the turn resumes later and first records
 * `session.interrupted`, so no model is called while the store is unavailable.
 */
export async function failTurn(
  active: ActiveTurn,
  action: NextAction['kind'],
  thrown: unknown,
): Promise<void> {
  const { session } = active;
  const turn = active.turn.id;
  const fault = asFault(thrown).data();
  session.interrupted =
    action === 'callModel'
      ? {
          type: 'step.restarted',
          turn,
          attempt: 1,
          delayMs: 0,
          fault,
          ...(session.open ? { shown: true } : {}),
        }
      : { type: 'turn.resumed', turn };
  if (session.isOutage(thrown)) throw thrown;
  await recordFailure(active, thrown);
  session.interrupted = null;
}

async function recordFailure({ session, deps, turn }: ActiveTurn, thrown: unknown): Promise<void> {
  const fault = asFault(thrown);
  const ids = { session: session.ref.id, turn: turn.id, connection: turn.via };
  if (fault.code === 'internal') deps.log.error({ ...ids, err: fault.cause }, 'turn failed');
  else deps.log.warn({ ...ids, code: fault.code, reason: fault.message }, 'turn failed');
  const durationMs = deps.now() - turn.startedAt;
  await readContext(session, deps);
  const failed = (state: SessionState): DurableEventBody[] =>
    state.turn?.id !== turn.id
      ? []
      : [
          ...closedBlock(turn, streamedSoFar(session.open, deps.now)),
          ...state.turn.calls.flatMap((call) =>
            call.phase === 'running'
              ? unknownOutcome(call, turn.id, 'The server could not record the outcome.')
              : abortedCalls([call], turn.id),
          ),
          { type: 'turn.failed', turn: turn.id, fault: fault.data(), durationMs },
        ];
  await session.transact((state) => withContextUse(failed(state), session, deps));
}
