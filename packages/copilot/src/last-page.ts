/** Finds the page in the log. */
import type { DurableEvent } from '@parlance/protocol';
import type { Page } from './page/page.ts';

/** The last page that the client sent; null if there is none. */
export function lastPage(events: readonly DurableEvent[]): Page | null {
  for (const event of events.toReversed()) {
    const page = (event.type === 'tool.ended' || event.type === 'input.accepted') && event.data?.page;
    if (page) return page as unknown as Page;
  }
  return null;
}
