/** The task that is under way in a session, for clients that have forgotten its id. */
import { type DurableEvent, type TurnId, textOf } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import { type TaskStatus, taskOf } from './task.ts';

export type ActiveTask = {
  readonly taskId: TurnId;
  readonly sessionId: string;
  /** what the user asked for */
  readonly query: string;
  readonly status: TaskStatus;
  readonly currentStepIndex: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const PAGE = 100;
/** The input of a turn is close before it, unless it waited for long. */
const BEFORE = 20;

/** Null where nothing is under way. */
export async function activeTask(engine: Engine, ref: SessionRef): Promise<ActiveTask | null> {
  const { turn, began, seq, approval } = await engine.snapshot(ref);
  if (turn === null || began === null) return null;
  const events: DurableEvent[] = [];
  for (let after = Math.max(0, began - 1 - BEFORE); after < seq; after = events.at(-1)?.seq ?? seq) {
    events.push(...(await engine.events(ref, after, Math.min(PAGE, seq - after))));
  }
  const task = taskOf(events, turn);
  const started = events.find((event) => event.type === 'turn.started' && event.turn === turn);
  return {
    taskId: turn,
    sessionId: ref.id,
    query: queryOf(events, started),
    status: approval ? 'needs_user_input' : task.status,
    currentStepIndex: task.plan?.currentStepIndex ?? 0,
    createdAt: timeOf(started),
    updatedAt: timeOf(events.at(-1)),
  };
}

const timeOf = (event: DurableEvent | undefined): string => new Date(event?.at ?? 0).toISOString();

function queryOf(events: readonly DurableEvent[], started: DurableEvent | undefined): string {
  const wanted = started?.type === 'turn.started' ? started.input : null;
  for (const event of events) {
    if (event.type === 'input.accepted' && event.input === wanted) return textOf(event.parts.slice(0, 1));
  }
  return '';
}
