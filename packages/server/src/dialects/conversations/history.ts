/** What REST shows of a conversation, read from its events from the end: a long history costs no more than a short one. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/api/index.ts';

const PAGE = 500;

/** What a list is made of: `whole` says that the events reach back to the beginning. */
export type ItemsOf<Item> = (events: readonly DurableEvent[], whole: boolean) => Item[];

/** The latest `limit` items since the conversation was last cleared, oldest first. */
export async function latest<Item>(
  engine: Engine,
  { ref, head }: SessionRecord,
  { limit, itemsOf }: { readonly limit: number; readonly itemsOf: ItemsOf<Item> },
): Promise<Item[]> {
  let events: DurableEvent[] = [];
  let items: Item[] = [];
  for (let after = head; after > 0 && items.length < limit; ) {
    const end = after;
    after = Math.max(0, end - PAGE);
    events = [...(await engine.events(ref, after, end - after)), ...events];
    const cleared = events.findLastIndex((event) => event.type === 'session.cleared');
    if (cleared >= 0) return itemsOf(events.slice(cleared + 1), true).slice(-limit);
    items = itemsOf(events, after === 0);
  }
  return items.slice(-limit);
}
