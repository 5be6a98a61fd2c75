/** A session as server-sent events: the past at the reader's pace, then what happens. */
import { isFact, type Live, type SessionEvent } from '@parlance/protocol';
import type { Engine, Pieces, Reader, SessionRef } from '../../core/engine.ts';

const PAGE = 50;

let latest: { readonly event: SessionEvent; readonly text: string } | null = null;

/**
 * The fact's number is the event's id; live events have none, so a reader resumes after the last fact it saw. All who
 * watch a session are told an event one after another: it is encoded for the first of them.
 */
export function encode(event: SessionEvent): string {
  if (latest?.event === event) return latest.text;
  const id = isFact(event) ? `id: ${event.seq}\n` : '';
  const text = `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  latest = { event, text };
  return text;
}

const named = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const isPiece = (event: SessionEvent): event is Live<'text.delta' | 'reasoning.delta'> =>
  event.type === 'text.delta' || event.type === 'reasoning.delta';

const PIECES: Pieces = {
  key: (event) => (isPiece(event as SessionEvent) ? (event as Live<'text.delta'>).block : null),
  text: (event) => (event as Live<'text.delta'>).text,
  with: (event, text) => ({ ...event, text }),
};

/**
 * Facts after `after`, then `snapshot` (the block that is being streamed and the approval that waits, at that
 * moment), then everything live. `reset` comes first where the reader's own position is gone. A reader that is too far
 * behind is told the same again from where it is: the facts it missed, a snapshot, and what happens.
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
        if (taken && isFact(event)) seen = event.seq;
      },
      ({ now }) => {
        const { seq, turn, open, approval } = now();
        reader.send(named('snapshot', { seq, turn, open, approval }));
      },
    );
    const dropped = await reader.lost().finally(() => watch.stop());
    const missed = (dropped as (SessionEvent | undefined)[] | null)?.find((event) => event && isFact(event));
    if (missed && isFact(missed)) seen = missed.seq - 1;
  }
}

/** The facts after `seen`, page by page as they are read. Returns the number of the last one. */
async function tellPast(reader: Reader, engine: Engine, ref: SessionRef, seen: number): Promise<number> {
  for (;;) {
    // First, so that a page is not held for a reader that does not come for it.
    await reader.ready();
    const page = await engine.facts(ref, seen, PAGE);
    for (const fact of page) {
      await reader.ready();
      reader.send(encode(fact), fact);
    }
    seen = page.at(-1)?.seq ?? seen;
    if (page.length < PAGE || reader.gone) return seen;
  }
}
