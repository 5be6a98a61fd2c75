import { type Command, type DurableEventBody, Fault } from '@parlance/protocol';
import type { DecisionContext } from './decision.ts';
import type { SessionState } from './session-state.ts';
import { interruption } from './turn-events.ts';

type CancelTurn = Extract<Command, { type: 'turn.cancel' }>;

export function decideCancel(
  state: SessionState,
  command: CancelTurn,
  context: DecisionContext,
): DurableEventBody[] {
  if (state.turn && endsRunningTurn(command, state))
    return interruption(state.turn, 'cancelled', context.open);
  const queued = state.queue.find(({ turn }) => turn !== undefined && turn === command.turn);
  if (!queued?.turn)
    throw new Fault('no_turn', command.turn ? 'The turn is not running.' : 'No turn is running.');
  return [{ type: 'input.cancelled', input: queued.input, turn: queued.turn, by: context.by }];
}

/** False if the command names a different turn. */
export const endsRunningTurn = ({ turn }: CancelTurn, state: SessionState): boolean =>
  turn === undefined || turn === state.turn?.id;
