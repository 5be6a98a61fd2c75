/** Validates an append before the store reads the session. A log with a gap could never be read again. */
import type { DurableEvent } from '@parlance/protocol';
import type { SessionRecord } from '../../core/ports/event-store.ts';

/** Throws on a bug of the caller: events of another session, or not numbered from `expected` on. */
export function checkNumbering(
  expected: number,
  events: readonly DurableEvent[],
  record: SessionRecord,
): void {
  const stray = events.find((event, index) => event.seq !== expected + 1 + index);
  if (stray) throw new Error(`event ${stray.seq} does not follow on from ${expected}`);
  const foreign = events.find((event) => event.session !== record.ref.id);
  if (foreign) throw new Error(`event ${foreign.seq} is of another session`);
  const head = expected + events.length;
  if (head === 0) throw new Error('a session begins with an event');
  if (record.head !== head) throw new Error(`the record says ${record.head}, the last event is ${head}`);
}
