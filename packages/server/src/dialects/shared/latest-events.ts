import type { DurableEvent } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';

export type LatestEvents = {
  /** oldest first */
  readonly events: readonly DurableEvent[];
  /** the first event of the session is included */
  readonly whole: boolean;
};

/**
 * Reads a session backwards from event number `head`: yields the last page of events, then the last two pages,
 * and so on. The cost depends on how far the reader goes back, not on the length of the session.
 */
export async function* latestEvents(
  engine: Pick<Engine, 'events'>,
  { ref, head }: { readonly ref: SessionRef; readonly head: number },
  page: number,
): AsyncGenerator<LatestEvents, void> {
  let events: DurableEvent[] = [];
  for (let end = head; end > 0; end -= page) {
    const after = Math.max(0, end - page);
    events = [...(await engine.events(ref, after, end - after)), ...events];
    yield { events, whole: after === 0 };
  }
}
