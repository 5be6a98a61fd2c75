/**
 * The turn loop. The next action depends only on the state (`domain/next-action.ts`), so a turn continues the
 * same way after an approval and after a crash.
 */
import { type NextAction, nextAction } from '../domain/next-action.ts';
import { turnStarted } from '../domain/turn-events.ts';
import { Deposed } from '../ports/lease.ts';
import { type ActiveTurn, activeTurn, record } from './active-turn.ts';
import { callModel } from './model-step.ts';
import type { ResumeEvent, Session } from './session.ts';
import { runTools } from './tool-calls.ts';
import type { TurnDeps } from './turn-deps.ts';
import { endTurn, failTurn } from './turn-end.ts';

/**
 * Runs the session while this node drives it, until it is idle or `stopping` returns true between two
 * actions. Throws if an event cannot be stored; the session then resumes from the log later.
 */
export async function drive(session: Session, deps: TurnDeps, stopping: () => boolean): Promise<void> {
  if (session.interrupted) await resumeTurn(session, session.interrupted);
  while (!stopping() && session.role.isDriver && !session.abandoned) {
    const action = nextAction(session.state);
    if (action.kind === 'idle') return;
    if (action.kind === 'startTurn') await startTurn(session);
    else await advance(activeTurn({ session, deps, stopping }, action.turn), action);
    // A cancel may be in the middle of its append: decide the next action after it.
    await session.settled();
  }
}

type TurnAction = Exclude<NextAction, { kind: 'idle' | 'startTurn' }>;

async function advance(active: ActiveTurn, action: TurnAction): Promise<void> {
  let { kind } = action;
  try {
    switch (kind) {
      case 'callModel': {
        const startedCalls = await callModel(active);
        kind = 'runTools';
        return startedCalls ? await runTools(active, startedCalls) : undefined;
      }
      case 'runTools':
        return await runTools(active);
      case 'endTurn':
        return await endTurn(active, []);
    }
  } catch (thrown) {
    if (thrown instanceof Deposed) throw thrown;
    if (!active.signal.aborted) await failTurn(active, kind, thrown);
  }
}

async function startTurn(session: Session): Promise<void> {
  await session.transact(({ turn, queue: [next], agent }) => (turn || !next ? [] : turnStarted(next, agent)));
}

async function resumeTurn(session: Session, event: ResumeEvent): Promise<void> {
  await record({ session, turn: { id: event.turn } }, [event]);
  session.interrupted = null;
}
