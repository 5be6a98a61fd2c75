/** The faults of a run, the time until the service recovered from each, and what was at stake. */
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { within } from '../../packages/server/src/testing/until.ts';

type Interrupts = 'turns' | 'nothing';

/** Times are in milliseconds of the wall clock. */
export type Fault = {
  readonly kind: string;
  /** when it happened; if nothing can be acknowledged before the repair, when it was repaired */
  readonly since: number;
  readonly interrupts: Interrupts;
  /** when it was repaired */
  until: number;
  /** the first acknowledged message after `since`; `overtaken` if the next fault came first */
  acknowledged: number | 'overtaken' | null;
};

export class FaultLog {
  readonly faults: Fault[] = [];
  #waiting = Promise.withResolvers<void>();

  /** Turns of faults that follow within this time of each other may have been interrupted by either. */
  constructor(private readonly calmMs = 0) {}

  begin(kind: string, since = Date.now(), interrupts: Interrupts = 'turns'): Fault {
    const fault: Fault = { kind, since, interrupts, until: since, acknowledged: null };
    this.faults.push(fault);
    return fault;
  }

  /** The only server was killed again: what is acknowledged from now on says nothing about earlier faults. */
  overtake(): void {
    for (const fault of this.faults) fault.acknowledged ??= 'overtaken';
  }

  /** A message was acknowledged. */
  acknowledged(): void {
    const now = Date.now();
    for (const fault of this.faults) fault.acknowledged ??= now;
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

  /** The first fault that was repaired after this time: what was acknowledged before was at stake. */
  after(time: number): Fault | undefined {
    return this.faults
      .filter(({ until }) => until >= time)
      .reduce<Fault | undefined>(
        (first, one) => (first && first.until <= one.until ? first : one),
        undefined,
      );
  }

  /**
   * From a fault to each turn that was resumed after it, with the fault. With `alone`, faults in quick
   * succession are left out, because it is unknown which of them interrupted the turn. Otherwise the first of
   * them counts.
   */
  resumptions(
    events: Iterable<readonly DurableEvent[]>,
    { alone }: { readonly alone: boolean },
  ): { readonly fault: Fault; readonly ms: number }[] {
    // An event of the future was stored by a node whose clock was wrong.
    const now = Date.now();
    const resumed = [...events].flat().filter(({ type, at }) => type === 'turn.resumed' && at <= now);
    return resumed.flatMap(({ at }) => {
      const before = this.faults.filter(({ since, interrupts }) => since <= at && interrupts === 'turns');
      let first = before.pop();
      for (const earlier of before.reverse()) {
        if (!first || first.since - earlier.since > this.calmMs) break;
        if (alone) return [];
        first = earlier;
      }
      return first ? [{ fault: first, ms: at - first.since }] : [];
    });
  }
}

/** From each of these faults to the first acknowledged message, in milliseconds. */
export const recoveriesOf = (faults: readonly Fault[]): number[] =>
  faults.flatMap(({ since, acknowledged }) =>
    typeof acknowledged === 'number' ? [acknowledged - since] : [],
  );
