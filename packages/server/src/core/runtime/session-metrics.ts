/** Metrics of sessions, derived from their durable events alone. */
import type { DurableEvent } from '@parlance/protocol';
import { evolve } from '../domain/evolve.ts';
import type { SessionState } from '../domain/session-state.ts';
import type { SessionRef } from '../ports/event-store.ts';
import type { Observers } from './model-call.ts';

export class SessionMetrics {
  constructor(
    private readonly observers: Observers,
    /** number of sessions with a pending approval */
    approvalsWaiting: () => Promise<number>,
  ) {
    observers.meter.gauge('approvals_waiting', approvalsWaiting);
  }

  /**
   * Counts stored events. `before` is the state in which they were decided; each is counted with the state
   * before it.
   */
  readonly onCommitted = (ref: SessionRef, events: readonly DurableEvent[], before: SessionState): void => {
    let state = before;
    for (const event of events) {
      this.#count(event, state);
      this.observers.tracer.onCommitted(ref, event, state);
      state = evolve(state, event);
    }
  };

  #count(event: DurableEvent, { turn }: SessionState): void {
    const { meter } = this.observers;
    if (event.type === 'turn.ended') this.#turnOver('ended', event.durationMs);
    else if (event.type === 'turn.failed') this.#turnOver('failed', event.durationMs);
    else if (event.type === 'turn.cancelled')
      this.#turnOver('cancelled', event.at - (turn?.startedAt ?? event.at));
    else if (event.type === 'tool.ended') meter.add('tool_calls', event.outcome);
    else if (event.type === 'approval.answered') meter.add('approvals_answered', event.answer);
  }

  #turnOver(outcome: string, durationMs: number): void {
    this.observers.meter.add('turns', outcome);
    this.observers.meter.observe('turn_seconds', durationMs / 1000, outcome);
  }
}
