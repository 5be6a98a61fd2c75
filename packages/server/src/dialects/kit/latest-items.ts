/**
 * Items made from the latest events of a session, read backwards: the cost does not depend on the length of the
 * history.
 */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord } from '../../core/index.ts';
import { latestEvents } from './latest-events.ts';

const PAGE = 500;

/**
 * `first` is the index of the first event to make an item from: from there on the turn of each event is known.
 */
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

/** A turn can be interpreted only with its input, which precedes it. Imported history needs no input. */
function firstWholeTurn(events: readonly DurableEvent[]): number {
  const inputs = new Set<string>();
  return events.findIndex((event) => {
    if (event.type === 'input.accepted') inputs.add(event.input);
    return event.type === 'history.imported' || (event.type === 'turn.started' && inputs.has(event.input));
  });
}
