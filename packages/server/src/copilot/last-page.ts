/** The page in the log. */
import type { Fact } from '@parlance/protocol';
import type { Page } from './page/page.ts';

/** The page as the client last sent it; null where it sent none. */
export function lastPage(facts: readonly Fact[]): Page | null {
  for (const fact of facts.toReversed()) {
    const page = (fact.type === 'tool.ended' || fact.type === 'input.accepted') && fact.data?.page;
    if (page) return page as unknown as Page;
  }
  return null;
}
