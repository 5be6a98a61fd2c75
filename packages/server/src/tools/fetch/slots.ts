/** A semaphore: bounded concurrency, with a first-in first-out queue. */
import { Fault } from '@parlance/protocol';

export class Slots {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the release function. Throws if `signal` is aborted before a slot is free. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let inside = true;
    return () => {
      if (inside) this.#leave();
      inside = false;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      this.#line.delete(resolve);
      reject(new Fault('overloaded', 'The server reads too many pages at once; try again later.'));
    };
    this.#line.add(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  /** Passes the slot directly to the first waiter. */
  #leave(): void {
    const [next] = this.#line;
    if (!next) {
      this.#free++;
      return;
    }
    this.#line.delete(next);
    next();
  }
}
