/**
 * A reader of the native event stream that comes back with `Last-Event-ID`. Every fact it is told is written down, and
 * every text it puts together from the snapshot and the deltas is compared with the fact that ends it.
 */
import type { Fact, SessionEvent } from '../../packages/protocol/src/index.ts';
import type { ServerProcess } from '../server-process.ts';
import type { Ledger } from './ledger.ts';

type Snapshot = { open: { block: string; text: string } | null };

export class Follower {
  readonly facts: Fact[] = [];
  #server: ServerProcess | null = null;
  #stop: AbortController | null = null;
  #blocks = new Map<string, string>();
  #wake: () => void = () => undefined;
  #broken: Error | null = null;

  constructor(
    private readonly session: string,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Resolves when the stream is open; what comes is taken in until the server is gone or `stop` is called. A server
   * that is followed already is not followed twice.
   */
  async follow(server: ServerProcess): Promise<void> {
    if (this.#server === server && !this.#broken) return;
    this.#stop?.abort();
    const stop = new AbortController();
    this.#server = server;
    this.#stop = stop;
    this.#blocks.clear();
    this.#broken = null;
    const response = await fetch(`${server.http}/v1/sessions/${this.session}/events`, {
      headers: { accept: 'text/event-stream', 'last-event-id': String(this.facts.length) },
      signal: stop.signal,
    });
    if (!response.ok) this.#broken = new Error(`events answered ${response.status}`);
    if (this.#broken) throw this.#broken;
    void this.#read(response.body, stop.signal);
  }

  /** Resolves when `done` says so of the facts so far; rejects when the stream ends before. */
  async until(done: (facts: readonly Fact[]) => boolean): Promise<void> {
    while (!done(this.facts)) {
      if (this.#broken) throw this.#broken;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  async #read(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const bytes of body ?? []) {
        if (signal.aborted) return;
        text += decoder.decode(bytes, { stream: true });
        const messages = text.split('\n\n');
        text = messages.pop() ?? '';
        for (const message of messages) this.#take(message);
        this.#wake();
      }
      if (!signal.aborted) this.#broken = new Error(`the event stream of ${this.session} ended`);
    } catch (thrown) {
      if (!signal.aborted) this.#broken = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    this.#wake();
  }

  #take(message: string): void {
    const name = /^event: (.*)$/m.exec(message)?.[1];
    const data = /^data: (.*)$/m.exec(message)?.[1];
    if (name === undefined || data === undefined) return;
    if (name === 'reset') throw new Error(`${this.session} was reset after ${this.facts.length}`);
    if (name === 'snapshot') {
      const { open } = JSON.parse(data) as Snapshot;
      if (open) this.#blocks.set(open.block, open.text);
      return;
    }
    const event = JSON.parse(data) as SessionEvent;
    if (event.type === 'text.delta' || event.type === 'reasoning.delta') {
      this.#blocks.set(event.block, (this.#blocks.get(event.block) ?? '') + event.text);
      if (event.type === 'text.delta') this.ledger.saw('stream');
    }
    if ('seq' in event) this.#fact(event);
  }

  #fact(fact: Fact): void {
    const { session, ledger } = this;
    ledger.told.push({ reader: `native ${session}`, session, seq: fact.seq, id: fact.id });
    this.facts.push(fact);
    if (fact.type === 'tool.started') ledger.saw('tool');
    if (fact.type !== 'text.ended' && fact.type !== 'reasoning.ended') return;
    const pieces = this.#blocks.get(fact.block);
    if (pieces !== undefined) ledger.assembled.push({ session, dialect: 'native', pieces, whole: fact.text });
  }
}
