/** Failures, and the time until the cluster has recovered from each. */
import type { DurableEvent } from '../../../packages/protocol/src/index.ts';
import { slowness, within } from '../../../packages/server/src/testing/until.ts';

type Interrupts = 'turns' | 'nothing';
type Episode = { readonly since: number; readonly interrupts: Interrupts; acknowledged: number | null };

export class Episodes {
  /** Lease of the nodes: a starved node must not look like a failed one. */
  readonly leaseMs = Math.round(1_500 * Math.max(1, slowness() / 3));
  /** Longer than a lease: other nodes have taken over the sessions of a failed node. */
  readonly calmMs = this.leaseMs + 800;
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

  /** Resolves with true when a message is acknowledged from now on, with false if none is for too long. */
  recovered(): Promise<boolean> {
    return within(this.#waiting.promise, 'no acknowledgement').then(
      () => true,
      () => false,
    );
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
          if (!first || first.since - earlier.since > this.calmMs) break;
          if (alone) return [];
          first = earlier;
        }
        return first ? [at - first.since] : [];
      });
  }
}
