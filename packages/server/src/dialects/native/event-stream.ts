/** A session as server-sent events: the past at the reader's pace, then what happens. */
import type { SessionEvent } from '@parlance/protocol';
import { isFact } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/engine.ts';

const PAGE = 200;
/** A reader that is further behind than this is let go: it comes back with Last-Event-ID and has lost nothing. */
const MOST_WAITING = 10_000;
const KEEP_ALIVE_MS = 15_000;

/** The fact's number is the event's id; live events have none, so a reader resumes after the last fact it saw. */
export const encode = (event: SessionEvent): string =>
  `${isFact(event) ? `id: ${event.seq}\n` : ''}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const named = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Facts after `after`, then `snapshot` (the block that is being streamed and the approval that waits, at that
 * moment), then everything live. `reset` comes first where the reader's own position is gone.
 */
export function eventStream(
  engine: Engine,
  ref: SessionRef,
  after: number,
  reset: boolean,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = follow(engine, ref, after, reset, signal);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await events.return(undefined);
    },
  });
}

async function* follow(
  engine: Engine,
  ref: SessionRef,
  after: number,
  reset: boolean,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  if (reset) yield named('reset', { after: 0 });
  let seen = after;
  for (
    let page = await engine.facts(ref, seen, PAGE);
    page.length > 0;
    page = await engine.facts(ref, seen, PAGE)
  ) {
    for (const fact of page) yield encode(fact);
    seen = page.at(-1)?.seq ?? seen;
  }
  const waiting: string[] = [];
  let wake: () => void = () => undefined;
  const watch = await engine.watch(
    ref,
    seen,
    (event) => {
      waiting.push(encode(event));
      wake();
    },
    ({ now }) => {
      const { seq, turn, open, approval } = now();
      waiting.push(named('snapshot', { seq, turn, open, approval }));
    },
  );
  const stop = () => wake();
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted && waiting.length <= MOST_WAITING) {
      const next = waiting.splice(0).join('');
      if (next !== '') yield next;
      if (waiting.length > 0) continue;
      const slept = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), KEEP_ALIVE_MS);
        wake = () => {
          clearTimeout(timer);
          resolve(false);
        };
        if (waiting.length > 0 || signal.aborted) wake();
      });
      if (slept) yield ': still here\n\n';
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watch.stop();
  }
}
