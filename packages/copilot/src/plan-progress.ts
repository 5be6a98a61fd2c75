/** Progress of a task's plan, folded from the events of its turn. */
import { type DurableEvent, isObject, type JsonObject, type TurnId } from '@parlance/protocol';

export type PlanProgress = {
  readonly turn: TurnId;
  readonly steps: readonly JsonObject[];
  /** index of the current step */
  readonly current: number;
  /** when the plan was set */
  readonly at: number;
};

export type ToolUse = { readonly tool: string; readonly input: JsonObject };

/** The plan after one more event; `call` is the input of the call that the event is about. */
export function progressAfter(
  before: PlanProgress | null,
  event: DurableEvent,
  call: ToolUse | undefined,
): PlanProgress | null {
  if (event.type === 'call.deferred' && call?.tool === 'browser_act')
    return before && { ...before, current: stepOf(before, call.input) };
  if (event.type !== 'tool.ended' || event.outcome !== 'ok' || !call) return before;
  if (call.tool === 'browser_plan')
    return { turn: event.turn, steps: stepsIn(call.input), current: 0, at: event.at };
  // If a model does not number its actions, each counts as one step.
  if (call.tool === 'browser_act' && event.data && call.input.step === undefined)
    return before && { ...before, current: Math.min(before.current + 1, before.steps.length - 1) };
  return before;
}

/** The step of an action. */
export const stepOf = ({ steps, current }: PlanProgress, { step }: JsonObject): number =>
  typeof step === 'number' && step < steps.length ? step : current;

const stepsIn = ({ steps }: JsonObject): JsonObject[] =>
  Array.isArray(steps) ? steps.filter(isObject).map((step) => step as JsonObject) : [];
