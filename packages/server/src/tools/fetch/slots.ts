/** A bounded number of things at once; who comes later waits in line, until it is its turn or it gives up. */
import { Fault } from '@parlance/protocol';

export class Slots {
  #free: number;
  readonly #line = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with what gives the slot back. Throws where `signal` is aborted before there is one. */
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

  /** The slot goes straight to the first in line. */
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
