/** Past events of a session: read from the end, and run through a projection, so that HTTP responses show what subscribers received. */
import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRecord, SessionRef } from '../../core/index.ts';
import type { StepResult } from './projection.ts';

export type ReplayedEvent<State, Body extends object> = {
  readonly event: DurableEvent;
  /** the state after the event */
  readonly state: State;
  readonly bodies: readonly Body[];
};

export function* replay<State, Body extends object>(
  step: (state: State, event: DurableEvent) => StepResult<State, Body>,
  start: State,
  events: readonly DurableEvent[],
): Generator<ReplayedEvent<State, Body>, void> {
  let state = start;
  for (const event of events) {
    const [next, frames] = step(state, event);
    state = next;
    yield { event, state, bodies: frames.map(({ body }) => body) };
  }
}

export type LatestEvents = {
  /** oldest first */
  readonly events: readonly DurableEvent[];
  /** the first event of the session is included */
  readonly whole: boolean;
};

/**
 * Reads a session backwards from event number `head`: yields the last page of events, then the last two pages,
 * and so on.
 */
export async function* latestEvents(
  engine: Pick<Engine, 'eventsBackwards'>,
  { ref, head }: { readonly ref: SessionRef; readonly head: number },
  page: number,
): AsyncGenerator<LatestEvents, void> {
  let events: DurableEvent[] = [];
  for await (const before of engine.eventsBackwards(ref, head, page)) {
    events = [...before, ...events];
    yield { events, whole: events.length === head };
  }
}

// Items made from the latest events: the cost does not depend on the length of the history.

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

/**
 * The index of the first turn with its input, which may have waited, or of imported history, which needs none; -1 if there
 * is neither.
 */
export function firstWholeTurn(events: readonly DurableEvent[]): number {
  const inputs = new Set<string>();
  return events.findIndex((event) => {
    if (event.type === 'input.accepted') inputs.add(event.input);
    return event.type === 'history.imported' || (event.type === 'turn.started' && inputs.has(event.input));
  });
}
