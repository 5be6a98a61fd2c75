/** What the log tells of the task so far. */
import type { Fact, JsonObject } from '@parlance/protocol';
import { type CalledTool, type PlanProgress, progressAfter, stepOf } from '../../copilot/plan-progress.ts';

/** How many actions were carried out, and how many of the last ones came to nothing. */
export function actsSoFar(facts: readonly Fact[]): { readonly count: number; readonly failedInARow: number } {
  const acts = new Set<string>();
  let count = 0;
  let failedInARow = 0;
  for (const fact of facts) {
    if (fact.type === 'call.requested' && fact.tool === 'browser_act') acts.add(fact.call);
    if (fact.type === 'call.deferred' && acts.has(fact.call)) count++;
    // An action that was never asked of the client does not count: the model was told, and may do better.
    if (fact.type === 'tool.ended' && acts.has(fact.call) && fact.data?.verification) {
      failedInARow = fact.outcome === 'ok' ? 0 : failedInARow + 1;
    }
  }
  return { count, failedInARow };
}

/** Whether this action is the first of a step of the plan that was not under way when the plan was last told. */
export function beginsStep(facts: readonly Fact[], input: JsonObject): boolean {
  const { plan, told } = planSoFar(facts);
  return plan !== null && stepOf(plan, input) !== told;
}

export const hasPlan = (facts: readonly Fact[]): boolean => planSoFar(facts).plan !== null;

function planSoFar(facts: readonly Fact[]): { plan: PlanProgress | null; told: number } {
  const calls = new Map<string, CalledTool>();
  let plan: PlanProgress | null = null;
  let told = 0;
  for (const fact of facts) {
    if (fact.type === 'turn.started') plan = null;
    if (fact.type === 'call.requested') calls.set(fact.call, { tool: fact.tool, input: fact.input });
    if (fact.type !== 'call.deferred' && fact.type !== 'tool.ended') continue;
    const call = calls.get(fact.call);
    plan = progressAfter(plan, fact, call);
    if (plan && (fact.type === 'call.deferred' || call?.tool === 'browser_plan')) told = plan.current;
  }
  return { plan, told };
}
