/** The open event streams, which the server ends in the words of their dialects before it closes a listener. */

import type { Fault } from '@parlance/protocol';
import type { Server } from 'bun';
import { sleep } from '../lib/sleep.ts';

export type ClosableStream = {
  /** Sends the last event of the dialect, if it has one, and ends the stream. */
  closeWith(fault: Fault): void;
};

export type CloseOptions = {
  /** for readers that are too slow for the last event */
  readonly withinMs: number;
  /** only the streams of this listener */
  readonly listener?: Server<unknown>;
};

export class OpenStreams {
  readonly #open = new Map<ClosableStream, Server<unknown> | undefined>();
  #emptied = Promise.withResolvers<void>();

  add(stream: ClosableStream, listener: Server<unknown> | undefined): void {
    this.#open.set(stream, listener);
  }

  /** Called when everything was written. */
  remove(stream: ClosableStream): void {
    if (!this.#open.delete(stream)) return;
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
  }

  /** Resolves when the streams have ended, at the latest after `withinMs`. */
  async close(fault: Fault, { withinMs, listener }: CloseOptions): Promise<void> {
    const isMeant = (at: Server<unknown> | undefined) => listener === undefined || at === listener;
    const closing = [...this.#open].flatMap(([stream, at]) => (isMeant(at) ? [stream] : []));
    for (const stream of closing) stream.closeWith(fault);
    const ended = new AbortController();
    const deadline = sleep(withinMs, ended.signal);
    let isLate = false;
    void deadline.then(() => {
      isLate = true;
    });
    while (!isLate && closing.some((stream) => this.#open.has(stream)))
      await Promise.race([this.#emptied.promise, deadline]);
    ended.abort();
  }
}
