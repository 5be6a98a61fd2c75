/** What is counted of sessions. It follows from their facts alone, so that nothing is counted that did not happen. */
import type { Fact } from '@parlance/protocol';
import type { Observers } from './model-call.ts';
import type { SessionRef } from './ports/store.ts';
import type { SessionState } from './session.ts';

export class Tally {
  constructor(
    private readonly observers: Observers,
    /** how many sessions have a call that waits for a person */
    approvalsWaiting: () => Promise<number>,
  ) {
    observers.meter.gauge('approvals_waiting', approvalsWaiting);
  }

  /** The facts are durable; `before` is the state in which they were decided. */
  readonly happened = (ref: SessionRef, facts: readonly Fact[], before: SessionState): void => {
    for (const fact of facts) {
      this.#count(fact, before);
      this.observers.tracer.happened(ref, fact, before);
    }
  };

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
