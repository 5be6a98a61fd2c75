/** Reads the progress of a task from the log. */
import { type PlanProgress, progressAfter, stepOf, type ToolUse } from '@parlance/copilot';
import type { DurableEvent, JsonObject } from '@parlance/protocol';

/** Number of executed actions, and of trailing ones without effect. */
export function actsSoFar(events: readonly DurableEvent[]): {
  readonly count: number;
  readonly failedInARow: number;
} {
  const acts = new Set<string>();
  let count = 0;
  let failedInARow = 0;
  for (const event of events) {
    if (event.type === 'call.requested' && event.tool === 'browser_act') acts.add(event.call);
    if (event.type === 'call.deferred' && acts.has(event.call)) count++;
    // Actions that never reached the client do not count: the model received an error and may correct it.
    if (event.type === 'tool.ended' && acts.has(event.call) && event.data?.verification) {
      failedInARow = event.outcome === 'ok' ? 0 : failedInARow + 1;
    }
  }
  return { count, failedInARow };
}

/** Whether this action is the first of a plan step that was not in progress when the plan was last shown. */
export function beginsStep(events: readonly DurableEvent[], input: JsonObject): boolean {
  const { plan, shownStep } = planSoFar(events);
  return plan !== null && stepOf(plan, input) !== shownStep;
}

export const hasPlan = (events: readonly DurableEvent[]): boolean => planSoFar(events).plan !== null;

function planSoFar(events: readonly DurableEvent[]): { plan: PlanProgress | null; shownStep: number } {
  const calls = new Map<string, ToolUse>();
  let plan: PlanProgress | null = null;
  let shownStep = 0;
  for (const event of events) {
    if (event.type === 'turn.started') plan = null;
    if (event.type === 'call.requested') calls.set(event.call, { tool: event.tool, input: event.input });
    if (event.type !== 'call.deferred' && event.type !== 'tool.ended') continue;
    const call = calls.get(event.call);
    plan = progressAfter(plan, event, call);
    if (plan && (event.type === 'call.deferred' || call?.tool === 'browser_plan')) shownStep = plan.current;
  }
  return { plan, shownStep };
}
