/** The plan of the last task in a session, and how far it is. Pure. */
import { type PlanProgress, stepOf } from '@parlance/copilot';
import { isObject, type JsonObject } from '@parlance/protocol';
import type { CallView, SessionView, TurnView } from '@parlance/sdk';

export type StepStatus = 'pending' | 'active' | 'completed' | 'failed';
export type PlanSteps = readonly {
  readonly number: number;
  readonly description: string;
  readonly status: StepStatus;
}[];

/** Null if the last task has none. */
export function planOf({ entries }: SessionView): PlanSteps | null {
  const turn = entries.findLast((entry): entry is TurnView => entry.kind === 'turn');
  const progress = turn && progressOf(turn);
  if (!turn || !progress || progress.steps.length === 0) return null;
  const failed = turn.state.status === 'running' ? null : hasFailed(turn);
  // A task that failed after a step was done has failed at the next one.
  const current = failed && isDone(turn) ? progress.current + 1 : progress.current;
  return progress.steps.map((step, index) => ({
    number: index + 1,
    description: typeof step.description === 'string' ? step.description : '',
    status: statusOf(index, Math.min(current, progress.steps.length - 1), failed),
  }));
}

const callsOf = ({ items }: TurnView): CallView[] =>
  items.filter((item): item is CallView => item.kind === 'call');

function hasFailed(turn: TurnView): boolean {
  const last = callsOf(turn).at(-1)?.state;
  if (turn.state.status !== 'ended') return true;
  return last?.phase === 'ended' && last.final && last.outcome !== 'ok';
}

/** The last action worked. */
function isDone(turn: TurnView): boolean {
  const last = callsOf(turn).findLast(({ tool }) => tool === 'browser_act');
  const numbered = last?.input.step !== undefined;
  return numbered && last?.state.phase === 'ended' && last.state.outcome === 'ok';
}

/** `failed` is null while the task runs. */
function statusOf(index: number, current: number, failed: boolean | null): StepStatus {
  if (failed === false || index < current) return 'completed';
  if (index > current) return 'pending';
  return failed ? 'failed' : 'active';
}

function progressOf(turn: TurnView): PlanProgress | null {
  let progress: PlanProgress | null = null;
  for (const { tool, input, state, at } of callsOf(turn)) {
    if (tool === 'browser_plan' && state.phase === 'ended' && state.outcome === 'ok')
      progress = { turn: turn.turn, steps: stepsIn(input), current: 0, at };
    if (tool !== 'browser_act' || !progress || state.phase === 'requested') continue;
    const current: number = stepOf(progress, input);
    // If a model does not number its actions, each counts as one step.
    const worked = state.phase === 'ended' && state.outcome === 'ok';
    const next = input.step === undefined && worked ? current + 1 : current;
    progress = { ...progress, current: Math.min(next, progress.steps.length - 1) };
  }
  return progress;
}

const stepsIn = ({ steps }: JsonObject): JsonObject[] =>
  Array.isArray(steps) ? steps.filter(isObject).map((step) => step as JsonObject) : [];
