/** Reads a session's events in tests; waits for events, never for time. */

import { within } from '../../../server/src/testing/until.ts';
import type { SessionStreamEvent } from '../cursor.ts';
import type { EventsOptions } from '../event-stream.ts';
import type { ConnectionState } from '../reconnecting-stream.ts';

type Type = SessionStreamEvent['type'];
type Status = ConnectionState['status'];

export class Reader {
  /** everything yielded */
  readonly events: SessionStreamEvent[] = [];
  readonly states: ConnectionState[] = [];
  /** the error that ended the iteration; undefined if none */
  readonly ended: Promise<unknown>;
  readonly #stop = new AbortController();
  #read = 0;
  #known = 0;
  #woken: () => void = () => undefined;

  constructor(open: (options: EventsOptions) => AsyncIterable<SessionStreamEvent>, after = 0) {
    const onState = (state: ConnectionState) => {
      this.states.push(state);
      this.#woken();
    };
    this.ended = this.#run(open({ after, signal: this.#stop.signal, onState }));
  }

  async #run(events: AsyncIterable<SessionStreamEvent>): Promise<unknown> {
    try {
      for await (const event of events) {
        this.events.push(event);
        this.#woken();
      }
      return undefined;
    } catch (thrown) {
      return thrown;
    }
  }

  /** The next event of the type after the last one returned. */
  async event<Wanted extends Type>(type: Wanted): Promise<Extract<SessionStreamEvent, { type: Wanted }>> {
    return (await this.#next(() => {
      const index = this.events.findIndex((event, at) => at >= this.#read && event.type === type);
      if (index >= 0) this.#read = index + 1;
      return this.events[index];
    })) as Extract<SessionStreamEvent, { type: Wanted }>;
  }

  async state<Wanted extends Status>(status: Wanted): Promise<Extract<ConnectionState, { status: Wanted }>> {
    return (await this.#next(() => {
      const index = this.states.findIndex((state, at) => at >= this.#known && state.status === status);
      if (index >= 0) this.#known = index + 1;
      return this.states[index];
    })) as Extract<ConnectionState, { status: Wanted }>;
  }

  async #next<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#woken = resolve;
      await within(promise, `nothing found by ${find}`);
    }
  }

  /** seqs of the durable events yielded */
  get seqs(): number[] {
    return this.events.flatMap((event) => ('seq' in event && event.type !== 'snapshot' ? [event.seq] : []));
  }

  /** Joined text deltas. */
  get deltas(): string {
    return this.events.map((event) => (event.type === 'text.delta' ? event.text : '')).join('');
  }

  async stop(): Promise<unknown> {
    this.#stop.abort();
    return this.ended;
  }
}
