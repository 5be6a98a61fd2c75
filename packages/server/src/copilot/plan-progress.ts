/** How far a task has come with its plan, as the events of its turn tell. */
import { type DurableEvent, isObject, type JsonObject, type TurnId } from '@parlance/protocol';

export type PlanProgress = {
  readonly turn: TurnId;
  readonly steps: readonly JsonObject[];
  /** the step that is under way, from 0 */
  readonly current: number;
  /** when the plan was set */
  readonly at: number;
};

export type CalledTool = { readonly tool: string; readonly input: JsonObject };

/** The plan after one more event; `call` is what the call that the event is about asked for. */
export function progressAfter(
  before: PlanProgress | null,
  event: DurableEvent,
  call: CalledTool | undefined,
): PlanProgress | null {
  if (event.type === 'call.deferred' && call?.tool === 'browser_act')
    return before && { ...before, current: stepOf(before, call.input) };
  if (event.type !== 'tool.ended' || event.outcome !== 'ok' || !call) return before;
  if (call.tool === 'browser_plan')
    return { turn: event.turn, steps: stepsIn(call.input), current: 0, at: event.at };
  // A model that does not number its actions is taken to do a step with each.
  if (call.tool === 'browser_act' && event.data && call.input.step === undefined)
    return before && { ...before, current: Math.min(before.current + 1, before.steps.length - 1) };
  return before;
}

/** The step that an action belongs to. */
export const stepOf = ({ steps, current }: PlanProgress, { step }: JsonObject): number =>
  typeof step === 'number' && step < steps.length ? step : current;

const stepsIn = ({ steps }: JsonObject): JsonObject[] =>
  Array.isArray(steps) ? steps.filter(isObject).map((step) => step as JsonObject) : [];
