import type { DurableEvent } from '@parlance/protocol';
import { type Context, EMPTY, evolveContext } from '../domain/context.ts';
import type { SessionState } from '../domain/session-state.ts';

type Source = {
  readonly state: SessionState;
  events(after: number): AsyncIterable<DurableEvent>;
};

/** The context of a session: read from the log once, then updated by each event. */
export class ContextReader {
  /** null until the first read; current afterwards */
  loaded: Context | null = null;

  constructor(private readonly source: Source) {}

  async read(): Promise<Context> {
    while (!this.loaded) {
      const { seq, readFrom } = this.source.state;
      let context = EMPTY;
      for await (const event of this.source.events(Math.max(0, readFrom - 1))) {
        if (event.seq <= seq) context = evolveContext(context, event);
      }
      if (seq === this.source.state.seq) this.loaded = context;
    }
    return this.loaded;
  }

  apply(event: DurableEvent): void {
    if (this.loaded) this.loaded = evolveContext(this.loaded, event);
  }

  /** For a session without events. */
  clear(): void {
    this.loaded = EMPTY;
  }
}
