import type { DurableEvent, DurableEventBody, TurnId } from '@parlance/protocol';
import type { Turn } from '../domain/session-state.ts';
import type { Session } from './session.ts';
import type { TurnDeps } from './turn-deps.ts';

/** A running turn and its dependencies. `turn` is the state at the start of the current action. */
export type ActiveTurn = {
  readonly session: Session;
  readonly deps: TurnDeps;
  readonly turn: Turn;
  /** aborted when the turn is cancelled or superseded, as soon as that is decided */
  readonly signal: AbortSignal;
  /** no new work may start: the server is stopping, or another node holds the lease */
  readonly stopping: () => boolean;
};

export const activeTurn = (
  { session, deps, stopping }: Pick<ActiveTurn, 'session' | 'deps' | 'stopping'>,
  turn: Turn,
): ActiveTurn => ({ session, deps, turn, signal: session.signal(turn.id), stopping });

type TurnRef = { readonly session: Session; readonly turn: { readonly id: TurnId } };

/** Appends events of this turn. They are dropped if the turn has ended by then. */
export const record = (
  { session, turn }: TurnRef,
  events: readonly DurableEventBody[],
): Promise<DurableEvent[]> => session.transact((state) => (state.turn?.id === turn.id ? events : []));
