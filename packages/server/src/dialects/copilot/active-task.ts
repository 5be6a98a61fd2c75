/** The task that is under way in a session, for clients that have forgotten its id. */
import { type Fact, type TurnId, textOf } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/engine.ts';
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
  const { turn, began, seq, approval } = await engine.now(ref);
  if (turn === null || began === null) return null;
  const facts: Fact[] = [];
  for (let after = Math.max(0, began - 1 - BEFORE); after < seq; after = facts.at(-1)?.seq ?? seq) {
    facts.push(...(await engine.facts(ref, after, Math.min(PAGE, seq - after))));
  }
  const task = taskOf(facts, turn);
  const started = facts.find((fact) => fact.type === 'turn.started' && fact.turn === turn);
  return {
    taskId: turn,
    sessionId: ref.id,
    query: queryOf(facts, started),
    status: approval ? 'needs_user_input' : task.status,
    currentStepIndex: task.plan?.currentStepIndex ?? 0,
    createdAt: timeOf(started),
    updatedAt: timeOf(facts.at(-1)),
  };
}

const timeOf = (fact: Fact | undefined): string => new Date(fact?.at ?? 0).toISOString();

function queryOf(facts: readonly Fact[], started: Fact | undefined): string {
  const wanted = started?.type === 'turn.started' ? started.input : null;
  for (const fact of facts) {
    if (fact.type === 'input.accepted' && fact.input === wanted) return textOf(fact.parts.slice(0, 1));
  }
  return '';
}
