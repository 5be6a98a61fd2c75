/** What REST shows of a conversation, read from its events from the end: a long history costs no more than a short one. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/api/index.ts';
import { latestEvents } from '../shared/latest-events.ts';

const PAGE = 500;

/** What a list is made of: `whole` says that the events reach back to the beginning. */
export type ItemsOf<Item> = (events: readonly DurableEvent[], whole: boolean) => Item[];

/** The latest `limit` items since the conversation was last cleared, oldest first. */
export async function latest<Item>(
  engine: Engine,
  record: SessionRecord,
  { limit, itemsOf }: { readonly limit: number; readonly itemsOf: ItemsOf<Item> },
): Promise<Item[]> {
  let items: Item[] = [];
  for await (const { events, whole } of latestEvents(engine, record, PAGE)) {
    const cleared = events.findLastIndex((event) => event.type === 'session.cleared');
    items = cleared >= 0 ? itemsOf(events.slice(cleared + 1), true) : itemsOf(events, whole);
    if (cleared >= 0 || items.length >= limit) break;
  }
  return items.slice(-limit);
}
