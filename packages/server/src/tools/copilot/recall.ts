/** What the log tells of the task so far. */
import type { Fact } from '@parlance/protocol';
import type { Page } from '../../copilot/page/page.ts';

/** The page as the client last sent it; null where it sent none. */
export function lastPage(facts: readonly Fact[]): Page | null {
  for (const fact of facts.toReversed()) {
    const page = (fact.type === 'tool.ended' || fact.type === 'input.accepted') && fact.data?.page;
    if (page) return page as unknown as Page;
  }
  return null;
}

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
