/** What is counted of sessions. It follows from their facts alone, so that nothing is counted that did not happen. */
import type { Fact } from '@parlance/protocol';
import type { Observers } from './model-call.ts';
import { type SessionRef, sessionKey } from './ports/store.ts';
import { type SessionState, waitingCall } from './session.ts';

export class Tally {
  /** sessions in which a call waits for a person */
  readonly #waiting = new Set<string>();
  #seeded: Promise<void> | null = null;

  constructor(
    private readonly observers: Observers,
    /** calls `note` for each session that waits since before this process began */
    private readonly seed: (note: Tally['note']) => Promise<void>,
  ) {
    observers.meter.gauge('approvals_waiting', () => this.#approvalsWaiting());
  }

  /** The facts are durable, and have made `after` of `before`. */
  readonly happened = (
    ref: SessionRef,
    facts: readonly Fact[],
    before: SessionState,
    after: SessionState,
  ): void => {
    for (const fact of facts) {
      this.#count(fact, before);
      this.observers.tracer.happened(ref, fact, before);
    }
    this.note(ref, after);
  };

  readonly note = (ref: SessionRef, state: SessionState): void => {
    if (waitingCall(state)) this.#waiting.add(sessionKey(ref));
    else if (this.#waiting.size > 0) this.#waiting.delete(sessionKey(ref));
  };

  /** Those of earlier days are looked up when someone first asks, so that no start waits for it. */
  async #approvalsWaiting(): Promise<number> {
    this.#seeded ??= this.seed(this.note);
    await this.#seeded.catch((thrown) => {
      this.#seeded = null;
      throw thrown;
    });
    return this.#waiting.size;
  }

  #count(fact: Fact, { turn }: SessionState): void {
    const { meter } = this.observers;
    if (fact.type === 'turn.ended') this.#turnOver('ended', fact.durationMs);
    else if (fact.type === 'turn.failed') this.#turnOver('failed', fact.durationMs);
    else if (fact.type === 'turn.cancelled')
      this.#turnOver('cancelled', fact.at - (turn?.startedAt ?? fact.at));
    else if (fact.type === 'tool.ended') meter.add('tool_calls', fact.outcome);
    else if (fact.type === 'approval.answered') meter.add('approvals_answered', fact.answer);
  }

  #turnOver(outcome: string, durationMs: number): void {
    this.observers.meter.add('turns', outcome);
    this.observers.meter.observe('turn_seconds', durationMs / 1000, outcome);
  }
}
