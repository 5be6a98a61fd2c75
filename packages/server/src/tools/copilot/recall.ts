/** What the log tells of the task so far. */
import type { DurableEvent, JsonObject } from '@parlance/protocol';
import { type CalledTool, type PlanProgress, progressAfter, stepOf } from '../../copilot/plan-progress.ts';

/** How many actions were carried out, and how many of the last ones came to nothing. */
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
    // An action that was never asked of the client does not count: the model was told, and may do better.
    if (event.type === 'tool.ended' && acts.has(event.call) && event.data?.verification) {
      failedInARow = event.outcome === 'ok' ? 0 : failedInARow + 1;
    }
  }
  return { count, failedInARow };
}

/** Whether this action is the first of a step of the plan that was not under way when the plan was last told. */
export function beginsStep(events: readonly DurableEvent[], input: JsonObject): boolean {
  const { plan, told } = planSoFar(events);
  return plan !== null && stepOf(plan, input) !== told;
}

export const hasPlan = (events: readonly DurableEvent[]): boolean => planSoFar(events).plan !== null;

function planSoFar(events: readonly DurableEvent[]): { plan: PlanProgress | null; told: number } {
  const calls = new Map<string, CalledTool>();
  let plan: PlanProgress | null = null;
  let told = 0;
  for (const event of events) {
    if (event.type === 'turn.started') plan = null;
    if (event.type === 'call.requested') calls.set(event.call, { tool: event.tool, input: event.input });
    if (event.type !== 'call.deferred' && event.type !== 'tool.ended') continue;
    const call = calls.get(event.call);
    plan = progressAfter(plan, event, call);
    if (plan && (event.type === 'call.deferred' || call?.tool === 'browser_plan')) told = plan.current;
  }
  return { plan, told };
}
