/** Failures, and the time until the cluster has recovered from each. */
import type { DurableEvent } from '../../../packages/protocol/src/index.ts';

/** Longer than a lease: other nodes have taken over the sessions of a failed node. */
export const CALM_MS = 2_300;

type Interrupts = 'turns' | 'nothing';
type Episode = { readonly since: number; readonly interrupts: Interrupts; acknowledged: number | null };

export class Episodes {
  readonly #episodes: Episode[] = [];
  #waiting = Promise.withResolvers<void>();

  /** `since`: when the failure happened; for the database, when it was back. */
  begin(since: number, interrupts: Interrupts = 'turns'): void {
    this.#episodes.push({ since, interrupts, acknowledged: null });
  }

  /** A message was acknowledged. */
  acknowledged(): void {
    const now = Date.now();
    for (const episode of this.#episodes) episode.acknowledged ??= now;
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }

  /** Resolves with true when a message is acknowledged from now on, with false on timeout. */
  async recovered(patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), patienceMs);
    this.#waiting.promise.then(() => resolve(true));
    return promise.finally(() => clearTimeout(timer));
  }

  /** From each failure to the first acknowledged message, in milliseconds. */
  get services(): number[] {
    return this.#episodes.flatMap(({ since, acknowledged }) =>
      acknowledged === null ? [] : [acknowledged - since],
    );
  }

  /**
   * From a failure to each turn that was resumed after it. With `alone`, failures in quick succession are left
   * out, because it is unknown which of them interrupted the turn. Otherwise the first of them counts.
   */
  resumptions(events: Iterable<readonly DurableEvent[]>, { alone }: { readonly alone: boolean }): number[] {
    return [...events]
      .flat()
      .filter(({ type }) => type === 'turn.resumed')
      .flatMap(({ at }) => {
        const before = this.#episodes.filter(
          ({ since, interrupts }) => since <= at && interrupts === 'turns',
        );
        let first = before.pop();
        for (const earlier of before.reverse()) {
          if (!first || first.since - earlier.since > CALM_MS) break;
          if (alone) return [];
          first = earlier;
        }
        return first ? [at - first.since] : [];
      });
  }
}
