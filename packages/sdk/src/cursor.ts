/**
 * Position of a reader in a session across reconnections. Every durable event is yielded once and in order, and the
 * deltas of a block always join to its text: a part that was missed is yielded as one delta before the block's event.
 */
import type { DurableEvent, EphemeralEvent, SessionEvent, SessionId } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { ServerSentEvent } from '@parlance/protocol/server-sent-events';
import { ParlanceError } from './error.ts';

/** Sent when history has been replayed, after each (re)connection or catch-up. Later events are live. */
export type Snapshot = api.Snapshot & { readonly type: 'snapshot' };
/** The position does not exist (another or a restored database): the session is replayed from its beginning. */
export type Reset = { readonly type: 'reset' };
export type SessionStreamEvent = SessionEvent | Snapshot | Reset;

type Delta = EphemeralEvent<'text.delta' | 'reasoning.delta'>;

export class Cursor {
  /**
   * The block being streamed, and the number of characters yielded. `sent`: where the server is, which is less for a while after
   * reconnecting to a node that is behind.
   */
  #open: { readonly block: string; length: number; sent: number } | null = null;

  constructor(
    private readonly session: SessionId,
    /** seq of the last event yielded */
    public seq: number,
    private readonly now: () => number,
  ) {}

  /** Events to yield. Throws if the stream is malformed or has a gap; the caller reconnects. */
  take({ event: name, data }: ServerSentEvent): SessionStreamEvent[] {
    const event = parsed(name, data);
    if (event.type === 'reset' || event.type === 'session.erased') {
      this.seq = 0;
      this.#open = null;
      return [event];
    }
    if (event.type === 'snapshot') return this.#snapshot(event);
    if ('seq' in event) return this.#durable(event);
    return event.type === 'text.delta' || event.type === 'reasoning.delta' ? this.#delta(event) : [event];
  }

  #durable(event: DurableEvent): SessionStreamEvent[] {
    if (event.seq <= this.seq) return [];
    if (event.seq > this.seq + 1) throw broken(`event ${event.seq} came after event ${this.seq}`);
    this.seq = event.seq;
    if (event.type !== 'text.ended' && event.type !== 'reasoning.ended') return [event];
    const yielded = this.#open?.block === event.block ? this.#open.length : 0;
    this.#open = null;
    const { turn, block, session, id, at } = event;
    const type = event.type === 'text.ended' ? 'text.delta' : 'reasoning.delta';
    const text = event.text.slice(yielded);
    return text === '' ? [event] : [{ type, turn, block, text, session, id: `${id}-rest`, at }, event];
  }

  #snapshot(snapshot: Snapshot): SessionStreamEvent[] {
    if (snapshot.seq > this.seq) throw broken(`a snapshot of ${snapshot.seq} came after event ${this.seq}`);
    const { open } = snapshot;
    if (!open) {
      this.#open = null;
      return [snapshot];
    }
    const { turn, block } = open;
    const yielded = this.#open?.block === block ? this.#open.length : 0;
    const text = open.text.slice(yielded);
    this.#open = { block, length: yielded + text.length, sent: open.text.length };
    if (text === '') return [snapshot];
    const type = open.kind === 'text' ? 'text.delta' : 'reasoning.delta';
    const id = `${block}-${open.text.length}`;
    return [{ type, turn, block, text, session: this.session, id, at: this.now() }, snapshot];
  }

  #delta(event: Delta): SessionStreamEvent[] {
    const { block } = event;
    if (this.#open?.block !== block) this.#open = { block, length: 0, sent: 0 };
    const open = this.#open;
    const text = event.text.slice(open.length - open.sent);
    open.sent += event.text.length;
    open.length += text.length;
    if (text.length === event.text.length) return [event];
    return text === '' ? [] : [{ ...event, text }];
  }
}

const broken = (what: string): ParlanceError =>
  new ParlanceError('unexpected', `The stream is out of order: ${what}.`);

function parsed(name: string | undefined, data: string): SessionStreamEvent {
  try {
    const value = JSON.parse(data);
    if (name === 'reset') return { type: 'reset' };
    return name === 'snapshot' ? { ...value, type: 'snapshot' } : value;
  } catch (thrown) {
    throw new ParlanceError('unexpected', 'The stream contains data that is not JSON.', { cause: thrown });
  }
}
