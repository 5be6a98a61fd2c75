import type { OpenCall, SessionState, Turn } from './session-state.ts';

export type NextAction =
  | { readonly kind: 'idle' }
  | { readonly kind: 'startTurn' }
  | { readonly kind: 'callModel'; readonly turn: Turn }
  | { readonly kind: 'runTools'; readonly turn: Turn; readonly call: OpenCall }
  | { readonly kind: 'endTurn'; readonly turn: Turn };

/**
 * What the session does next. It follows from the state alone, so a turn continues in the same way after an approval,
 * after a week and after a crash. The session is idle if it has no input, or if a person or a client has to answer.
 */
export function nextAction(state: SessionState): NextAction {
  const { turn } = state;
  if (!turn) return { kind: state.queue.length > 0 ? 'startTurn' : 'idle' };
  const call = turn.calls[0];
  if (call)
    return call.phase === 'waiting' || call.phase === 'deferred'
      ? { kind: 'idle' }
      : { kind: 'runTools', turn, call };
  return turn.answered ? { kind: 'endTurn', turn } : { kind: 'callModel', turn };
}
