import { type FileRewind, isParked, mustSettle, type SessionState, type Turn } from './session-state.ts';

export type NextAction =
  | { readonly kind: 'idle' }
  /** stops sub-agents, and tells the parent what it does not know yet */
  | { readonly kind: 'settle' }
  | { readonly kind: 'startTurn' }
  | { readonly kind: 'restoreFiles'; readonly rewind: FileRewind }
  | { readonly kind: 'callModel'; readonly turn: Turn }
  | { readonly kind: 'runTools'; readonly turn: Turn }
  | { readonly kind: 'endTurn'; readonly turn: Turn };

/**
 * Decides the session's next action from the state alone, so a turn continues the same way after an approval,
 * a week or a crash. The session is idle if it has no input, or if a person or a client must answer.
 */
export function nextAction(state: SessionState): NextAction {
  const { turn, rewinding } = state;
  if (rewinding) return { kind: 'restoreFiles', rewind: rewinding };
  const isWaiting = !turn || isParked(turn);
  if (isWaiting && mustSettle(state)) return { kind: 'settle' };
  if (!turn) return { kind: state.queue.length > 0 ? 'startTurn' : 'idle' };
  if (isWaiting) return { kind: 'idle' };
  if (turn.calls.length > 0) return { kind: 'runTools', turn };
  return turn.answered ? { kind: 'endTurn', turn } : { kind: 'callModel', turn };
}
