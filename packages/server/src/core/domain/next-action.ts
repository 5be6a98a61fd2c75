import { awaitsAnswer, type SessionState, type Turn } from './session-state.ts';

export type NextAction =
  | { readonly kind: 'idle' }
  | { readonly kind: 'startTurn' }
  | { readonly kind: 'callModel'; readonly turn: Turn }
  | { readonly kind: 'runTools'; readonly turn: Turn }
  | { readonly kind: 'endTurn'; readonly turn: Turn };

/**
 * What the session does next. It follows from the state alone, so a turn continues in the same way after an approval,
 * after a week and after a crash. The session is idle if it has no input, or if a person or a client has to answer.
 */
export function nextAction(state: SessionState): NextAction {
  const { turn } = state;
  if (!turn) return { kind: state.queue.length > 0 ? 'startTurn' : 'idle' };
  if (turn.calls.length > 0) return awaitsAnswer(turn) ? { kind: 'idle' } : { kind: 'runTools', turn };
  return turn.answered ? { kind: 'endTurn', turn } : { kind: 'callModel', turn };
}
