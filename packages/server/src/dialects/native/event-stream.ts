/** A session as server-sent events: the past at the reader's pace, then live events. */
import { isDurable, type SessionEvent } from '@parlance/protocol';
import type { Engine, SessionRef } from '../../core/api/index.ts';
import type { EventStream, Pieces, Subscriber } from '../../http/connection.ts';
import type { Cursor, SubscriptionHub } from '../shared/subscription-hub.ts';
import { encode, named } from './projection.ts';

const PAGE = 50;

export type EventSource = {
  readonly engine: Engine;
  readonly hub: SubscriptionHub<unknown>;
  readonly ref: SessionRef;
  /** The number of the last event that the reader has received. */
  readonly after: number;
  /** True if the position of the reader is unknown here: it is sent `reset`, then all events. */
  readonly reset: boolean;
};

/**
 * Sends the events after `after`, then `snapshot` (the block that is being streamed and the pending approval), then live
 * events. A reader that falls too far behind is brought up to date the same way from the last event it was sent.
 */
export async function streamEvents(stream: EventStream, source: EventSource): Promise<void> {
  const { hub, ref } = source;
  if (source.reset) stream.send(named('reset', { after: 0 }));
  const reader = new EventReader(stream, source);
  try {
    while (stream.open) {
      await stream.ready();
      await hub.subscribe(ref, reader, { cursor: reader });
      const dropped = await stream.lost();
      hub.unsubscribe(ref, reader);
      reader.resume(dropped ?? []);
    }
  } finally {
    hub.leave(reader);
  }
}

/** Remembers the last durable event that the stream accepted. */
class EventReader implements Subscriber, Cursor {
  seq: number;
  #lost = false;

  constructor(
    private readonly stream: EventStream,
    private readonly source: EventSource,
  ) {
    this.seq = source.after;
  }

  get id() {
    return this.stream.id;
  }

  get open() {
    return this.stream.open;
  }

  /** After a rejected frame, accepts no frame until `resume`: the reader would miss an event. */
  send(text: string, frame?: object, pieces?: Pieces): void {
    if (this.#lost) return;
    this.#lost = !this.stream.send(text, frame, pieces);
    const event = frame as SessionEvent | undefined;
    if (!this.#lost && event && isDurable(event)) this.seq = event.seq;
  }

  close(code: number, reason: string): void {
    this.stream.close(code, reason);
  }

  /** Sends page by page, and waits before each page so that none is buffered for a slow reader. */
  async catchUp(head: number): Promise<void> {
    const { engine, ref } = this.source;
    while (this.seq < head && this.open) {
      await this.stream.ready();
      const page = await engine.events(ref, this.seq, Math.min(PAGE, head - this.seq));
      for (const event of page) {
        await this.stream.ready();
        this.stream.send(encode(event), event);
      }
      // A session that was erased in the meantime has no events to catch up with.
      this.seq = page.at(-1)?.seq ?? head;
    }
  }

  /** Returns to the event before the first dropped one. */
  resume(dropped: readonly (object | undefined)[]): void {
    this.#lost = false;
    const missed = (dropped as readonly (SessionEvent | undefined)[]).find(
      (event) => event && isDurable(event),
    );
    if (missed && isDurable(missed)) this.seq = missed.seq - 1;
  }
}
