/** A reader of the native event stream. Reconnects with `Last-Event-ID` as specified. */
import type { DurableEvent, SessionEvent } from '../packages/protocol/src/index.ts';
import { within } from '../packages/server/src/testing/until.ts';

type Snapshot = { readonly open: { readonly block: string; readonly text: string } | null };
type Where = { readonly http: string };

export class EventReader {
  /** every event so far, over all connections */
  readonly events: DurableEvent[] = [];
  /** text by block, assembled from the snapshot and the deltas of the current connection */
  readonly blocks = new Map<string, string>();
  /** number of resets after an unknown position */
  resets = 0;
  #where: Where | null = null;
  #stop: AbortController | null = null;
  #wake: () => void = () => undefined;
  #broken: Error | null = null;

  /** `notify` receives every event, in order, after the reader has processed it. */
  constructor(
    private readonly session: string,
    private readonly notify: (event: SessionEvent) => void = () => undefined,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** The current text of the last block. */
  get latest(): string {
    return [...this.blocks.values()].at(-1) ?? '';
  }

  /**
   * Resolves when the stream is open, and reads until it ends or is cut. Does nothing if this server is already
   * followed. `after` replaces the position of the last event.
   */
  async follow(where: Where, after = this.events.length): Promise<void> {
    if (this.#where === where && !this.#broken) return;
    this.#stop?.abort();
    const stop = new AbortController();
    this.#where = where;
    this.#stop = stop;
    this.#broken = null;
    this.blocks.clear();
    const response = await fetch(`${where.http}/v1/sessions/${this.session}/events`, {
      headers: { ...this.headers, accept: 'text/event-stream', 'last-event-id': String(after) },
      signal: stop.signal,
    });
    if (!response.ok) this.#broken = new Error(`events answered ${response.status}`);
    if (this.#broken) throw this.#broken;
    void this.#read(response.body, stop.signal);
  }

  /** Resolves when `done` holds; rejects if the stream ends before. */
  async until(done: (reader: EventReader) => boolean): Promise<void> {
    while (!done(this)) {
      if (this.#broken) throw this.#broken;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(promise, `no event after which ${done}; last: ${JSON.stringify(this.events.at(-1))}`);
    }
  }

  /** Drops the connection without a closing handshake. */
  cut(): void {
    this.#stop?.abort();
    this.#where = null;
  }

  async #read(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    let ended = new Error(`the event stream of ${this.session} ended`);
    try {
      for await (const bytes of body ?? []) {
        if (signal.aborted) return;
        text += decoder.decode(bytes, { stream: true });
        const messages = text.split('\n\n');
        text = messages.pop() ?? '';
        for (const message of messages) this.#take(message);
        this.#wake();
      }
    } catch (thrown) {
      ended = thrown instanceof Error ? thrown : ended;
    }
    if (signal.aborted) return;
    this.#broken = ended;
    this.#wake();
  }

  #take(message: string): void {
    const name = /^event: (.*)$/m.exec(message)?.[1];
    const data = /^data: (.*)$/m.exec(message)?.[1];
    if (name === undefined || data === undefined) return;
    if (name === 'reset') {
      this.resets++;
      this.events.length = 0;
      return;
    }
    if (name === 'snapshot') {
      const { open } = JSON.parse(data) as Snapshot;
      if (open) this.blocks.set(open.block, open.text);
      return;
    }
    const event = JSON.parse(data) as SessionEvent;
    if (event.type === 'text.delta' || event.type === 'reasoning.delta')
      this.blocks.set(event.block, (this.blocks.get(event.block) ?? '') + event.text);
    if ('seq' in event) this.events.push(event);
    this.notify(event);
  }
}
