import type { DurableEvent, TurnId } from '@parlance/protocol';

type Stopper = { readonly turn: TurnId; readonly controller: AbortController };

/** The abort signal of the running turn. */
export class TurnAbort {
  #current: Stopper | null = null;
  #abandoned: Stopper | null = null;

  signal(turn: TurnId): AbortSignal {
    return this.#of(turn).controller.signal;
  }

  /** Aborts the turn that one of the events cancels. Call the returned function if the events cannot be stored. */
  byEvents(events: readonly DurableEvent[]): () => void {
    const cancelled = events.find((event) => event.type === 'turn.cancelled');
    if (!cancelled) return () => undefined;
    const stopper = this.#of(cancelled.turn);
    stopper.controller.abort();
    return () => {
      if (this.#current === stopper) this.#current = null;
    };
  }

  now(): void {
    this.#abandoned = this.#current;
    this.#current?.controller.abort();
  }

  get abandoned(): boolean {
    return this.#abandoned !== null;
  }

  /** Allows a turn aborted by `now` to continue. */
  resume(): void {
    if (this.#abandoned !== null && this.#abandoned === this.#current) this.#current = null;
    this.#abandoned = null;
  }

  reset(): void {
    this.#abandoned = null;
    this.#current = null;
  }

  #of(turn: TurnId): Stopper {
    if (this.#current?.turn !== turn) this.#current = { turn, controller: new AbortController() };
    return this.#current;
  }
}
