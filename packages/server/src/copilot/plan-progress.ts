/** How far a task has come with its plan, as the facts of its turn tell. */
import { type Fact, isObject, type JsonObject, type TurnId } from '@parlance/protocol';

export type PlanProgress = {
  readonly turn: TurnId;
  readonly steps: readonly JsonObject[];
  /** the step that is under way, from 0 */
  readonly current: number;
  /** when the plan was set */
  readonly at: number;
};

export type CalledTool = { readonly tool: string; readonly input: JsonObject };

/** The plan after one more fact; `call` is what the call that the fact is about asked for. */
export function progressAfter(
  before: PlanProgress | null,
  fact: Fact,
  call: CalledTool | undefined,
): PlanProgress | null {
  if (fact.type === 'call.deferred' && call?.tool === 'browser_act')
    return before && { ...before, current: stepOf(before, call.input) };
  if (fact.type !== 'tool.ended' || fact.outcome !== 'ok' || !call) return before;
  if (call.tool === 'browser_plan')
    return { turn: fact.turn, steps: stepsIn(call.input), current: 0, at: fact.at };
  // A model that does not number its actions is taken to do a step with each.
  if (call.tool === 'browser_act' && fact.data && call.input.step === undefined)
    return before && { ...before, current: Math.min(before.current + 1, before.steps.length - 1) };
  return before;
}

/** The step that an action belongs to. */
export const stepOf = ({ steps, current }: PlanProgress, { step }: JsonObject): number =>
  typeof step === 'number' && step < steps.length ? step : current;

const stepsIn = ({ steps }: JsonObject): JsonObject[] =>
  Array.isArray(steps) ? steps.filter(isObject).map((step) => step as JsonObject) : [];
