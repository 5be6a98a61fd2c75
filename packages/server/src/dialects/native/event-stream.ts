/** A session as server-sent events: the past at the reader's pace, then what happens. */
import { type EphemeralEvent, isDurable, type SessionEvent } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import type { Pieces, Reader } from '../../http/connection.ts';

const PAGE = 50;

let latest: { readonly event: SessionEvent; readonly text: string } | null = null;

/**
 * The event's number is the event's id; ephemeral events have none, so a reader resumes after the last event it saw. All who
 * watch a session are told an event one after another: it is encoded for the first of them.
 */
export function encode(event: SessionEvent): string {
  if (latest?.event === event) return latest.text;
  const id = isDurable(event) ? `id: ${event.seq}\n` : '';
  const text = `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  latest = { event, text };
  return text;
}

const named = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const isPiece = (event: SessionEvent): event is EphemeralEvent<'text.delta' | 'reasoning.delta'> =>
  event.type === 'text.delta' || event.type === 'reasoning.delta';

const PIECES: Pieces = {
  key: (event) => (isPiece(event as SessionEvent) ? (event as EphemeralEvent<'text.delta'>).block : null),
  text: (event) => (event as EphemeralEvent<'text.delta'>).text,
  with: (event, text) => ({ ...event, text }),
};

/**
 * Events after `after`, then `snapshot` (the block that is being streamed and the approval that waits, at that
 * moment), then everything live. `reset` comes first where the reader's own position is gone. A reader that is too far
 * behind is told the same again from where it is: the events it missed, a snapshot, and what happens.
 */
export async function follow(
  reader: Reader,
  engine: Engine,
  ref: SessionRef,
  after: number,
  reset: boolean,
): Promise<void> {
  if (reset) reader.send(named('reset', { after: 0 }));
  let seen = after;
  while (!reader.gone) {
    seen = await tellPast(reader, engine, ref, seen);
    const watch = await engine.watch(
      ref,
      seen,
      (event) => {
        const taken = reader.send(encode(event), event, PIECES);
        if (taken && isDurable(event)) seen = event.seq;
      },
      ({ snapshot }) => {
        const { seq, turn, open, approval } = snapshot();
        reader.send(named('snapshot', { seq, turn, open, approval }));
      },
    );
    const dropped = await reader.lost().finally(() => watch.stop());
    const missed = (dropped as (SessionEvent | undefined)[] | null)?.find(
      (event) => event && isDurable(event),
    );
    if (missed && isDurable(missed)) seen = missed.seq - 1;
  }
}

/** The events after `seen`, page by page as they are read. Returns the number of the last one. */
async function tellPast(reader: Reader, engine: Engine, ref: SessionRef, seen: number): Promise<number> {
  for (;;) {
    // First, so that a page is not held for a reader that does not come for it.
    await reader.ready();
    const page = await engine.events(ref, seen, PAGE);
    for (const event of page) {
      await reader.ready();
      reader.send(encode(event), event);
    }
    seen = page.at(-1)?.seq ?? seen;
    if (page.length < PAGE || reader.gone) return seen;
  }
}
