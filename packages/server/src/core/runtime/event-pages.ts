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
