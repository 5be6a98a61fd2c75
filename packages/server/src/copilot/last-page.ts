/** The page in the log. */
import type { DurableEvent } from '@parlance/protocol';
import type { Page } from './page/page.ts';

/** The page as the client last sent it; null where it sent none. */
export function lastPage(events: readonly DurableEvent[]): Page | null {
  for (const event of events.toReversed()) {
    const page = (event.type === 'tool.ended' || event.type === 'input.accepted') && event.data?.page;
    if (page) return page as unknown as Page;
  }
  return null;
}
