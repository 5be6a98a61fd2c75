import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/index.ts';

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
