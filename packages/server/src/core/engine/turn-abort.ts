/** Stops the action of a running turn, and says how the turn continues. */
import type { DurableEvent, DurableEventBody, TurnId } from '@parlance/protocol';
import type { Turn } from '../session/session-state.ts';

type Stopper = { readonly turn: TurnId; readonly controller: AbortController };

/**
 * The abort signal of the running turn. An event that cancels the turn aborts it for good; `now` stops the running action only, and
 * the turn continues after `resume`.
 */
export class TurnAbort {
  #current: Stopper | null = null;
  #abandoned: Stopper | null = null;

  signal(turn: TurnId): AbortSignal {
    return this.#of(turn).controller.signal;
  }

  /**
   * Aborts the turn that one of the events cancels. Call the returned function if the events cannot be stored: it returns
   * true if the turn continues.
   */
  byEvents(events: readonly DurableEvent[]): () => boolean {
    const cancelled = events.find((event) => event.type === 'turn.cancelled');
    if (!cancelled) return () => false;
    const stopper = this.#of(cancelled.turn);
    stopper.controller.abort();
    return () => {
      if (this.#current !== stopper) return false;
      this.#current = null;
      return true;
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

  /** The turn is gone: its action stops. */
  reset(): void {
    this.#current?.controller.abort();
    this.#abandoned = null;
    this.#current = null;
  }

  #of(turn: TurnId): Stopper {
    if (this.#current?.turn !== turn) this.#current = { turn, controller: new AbortController() };
    return this.#current;
  }
}

/** Recorded before an interrupted turn continues: output streamed since its last step is discarded. */
export type ResumeEvent = DurableEventBody<'turn.resumed' | 'step.restarted'>;

/** For a turn that was stopped because the store is unavailable. */
export function restartOf({ id, calls }: Turn, shown: boolean): ResumeEvent {
  if (calls.length > 0) return { type: 'turn.resumed', turn: id };
  const fault = {
    code: 'storage_unavailable',
    message: 'Storage is temporarily unavailable.',
  } as const;
  return {
    type: 'step.restarted',
    turn: id,
    attempt: 1,
    delayMs: 0,
    fault,
    ...(shown ? { shown: true } : {}),
  };
}
