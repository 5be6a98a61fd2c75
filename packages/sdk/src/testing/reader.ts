/** A reader of a session's events for tests: waits for what comes, never for time. */
import type { SessionStreamEvent } from '../answers.ts';
import type { EventsOptions } from '../event-stream.ts';
import type { ConnectionState } from '../reconnecting-stream.ts';

type Type = SessionStreamEvent['type'];
type Status = ConnectionState['status'];

export class Reader {
  /** everything that was yielded */
  readonly events: SessionStreamEvent[] = [];
  readonly states: ConnectionState[] = [];
  /** what the iteration ended with; undefined where it just ended */
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

  /** The next event of that type that was not waited for yet. */
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
      await promise;
    }
  }

  /** the numbers of the events that were yielded */
  get seqs(): number[] {
    return this.events.flatMap((event) => ('seq' in event && event.type !== 'snapshot' ? [event.seq] : []));
  }

  /** What a reader has that knows deltas alone. */
  get deltas(): string {
    return this.events.map((event) => (event.type === 'text.delta' ? event.text : '')).join('');
  }

  async stop(): Promise<unknown> {
    this.#stop.abort();
    return this.ended;
  }
}
