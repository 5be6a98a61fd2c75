/** Items made from the latest events of a session, read from the end: a long history costs no more than a short one. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/api/index.ts';
import { latestEvents } from './latest-events.ts';

const PAGE = 500;

/** Events, and the index of the first that an item may be made from: the turn it belongs to is known from there on. */
export type ItemsOf<Item> = (events: readonly DurableEvent[], first: number) => Item[];

/** The latest `limit` items since the session was last cleared, oldest first. */
export async function latest<Item>(
  engine: Engine,
  record: SessionRecord,
  { limit, itemsOf }: { readonly limit: number; readonly itemsOf: ItemsOf<Item> },
): Promise<Item[]> {
  let items: Item[] = [];
  for await (const { events, whole } of latestEvents(engine, record, PAGE)) {
    const cleared = events.findLastIndex((event) => event.type === 'session.cleared');
    const first = whole ? 0 : firstWholeTurn(events);
    if (cleared >= 0) items = itemsOf(events.slice(cleared + 1), 0);
    else if (first >= 0) items = itemsOf(events, first);
    if (cleared >= 0 || items.length >= limit) break;
  }
  return items.slice(-limit);
}

/** What a turn is depends on its input, which comes before it. A history that was taken over depends on nothing. */
function firstWholeTurn(events: readonly DurableEvent[]): number {
  const inputs = new Set<string>();
  return events.findIndex((event) => {
    if (event.type === 'input.accepted') inputs.add(event.input);
    return event.type === 'history.imported' || (event.type === 'turn.started' && inputs.has(event.input));
  });
}
