import type { DurableEvent } from '@parlance/protocol';
import type { EventStore, SessionRef } from '../ports/event-store.ts';

const PAGE = 500;

/** The stored events after sequence number `after`, read page by page. */
export async function* storedEvents(
  store: Pick<EventStore, 'read'>,
  ref: SessionRef,
  after: number,
): AsyncGenerator<DurableEvent, void> {
  for (let seen = after; ; ) {
    const page = await store.read(ref, seen, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    seen = last.seq;
  }
}

/** The stored events up to number `head`, the last page first. */
export async function* eventsBackwards(
  store: Pick<EventStore, 'read'>,
  ref: SessionRef,
  head: number,
  page = PAGE,
): AsyncGenerator<DurableEvent[], void> {
  for (let end = head; end > 0; end -= page) {
    const after = Math.max(0, end - page);
    yield await store.read(ref, after, end - after);
  }
}
