/** Validates an append before the store reads the session: a log with a gap would be unreadable. */
import type { DurableEvent } from '@parlance/protocol';
import type { SessionRecord } from '../../core/ports/event-store.ts';

/** Throws if the caller has a bug: events of another session, or not numbered from `expected` on. */
export function checkNumbering(
  expected: number,
  events: readonly DurableEvent[],
  record: SessionRecord,
): void {
  const stray = events.find((event, index) => event.seq !== expected + 1 + index);
  if (stray) throw new Error(`event ${stray.seq} does not follow ${expected}`);
  const foreign = events.find((event) => event.session !== record.ref.id);
  if (foreign) throw new Error(`event ${foreign.seq} belongs to another session`);
  const head = expected + events.length;
  if (head === 0) throw new Error('a session must begin with an event');
  if (record.head !== head)
    throw new Error(`the record has head ${record.head}, but the last event is ${head}`);
}
