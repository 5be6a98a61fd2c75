/** What the log tells of the task so far. */
import type { Fact } from '@parlance/protocol';

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
