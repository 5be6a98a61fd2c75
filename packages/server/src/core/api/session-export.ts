/** Exports a session as JSON lines, page by page. Leaves out events appended during the export. */
import {
  type DurableEvent,
  eventVersion,
  Fault,
  SESSION_FORMAT,
  SESSION_FORMAT_VERSION,
  type SessionHeader,
} from '@parlance/protocol';
import type { SessionRecord } from '../ports/event-store.ts';

const PAGE = 200;

const line = (value: SessionHeader | DurableEvent): string => `${JSON.stringify(value)}\n`;

/**
 * Throws if the session has fewer events than its record states, so that a partial export is not mistaken for
 * a complete one.
 */
export async function* exportedLines(
  { ref, head }: Pick<SessionRecord, 'ref' | 'head'>,
  read: (after: number, limit: number) => Promise<readonly DurableEvent[]>,
): AsyncGenerator<string, void> {
  let before = line({
    format: SESSION_FORMAT,
    version: SESSION_FORMAT_VERSION,
    session: ref,
    eventVersion: eventVersion(),
    events: head,
  });
  for (let after = 0; after < head; ) {
    const page = await read(after, Math.min(PAGE, head - after));
    const last = page.at(-1);
    if (!last) throw new Fault('not_found', 'The session was deleted during the export.');
    yield before + page.map(line).join('');
    before = '';
    after = last.seq;
  }
}
