/** Runs past events through a projection, so that HTTP responses show the same as subscribers received. */
import type { DurableEvent } from '@parlance/protocol';
import type { StepResult } from './projection.ts';

export type ReplayedEvent<State, Body extends object> = {
  readonly event: DurableEvent;
  /** the state after the event */
  readonly state: State;
  readonly bodies: readonly Body[];
};

export function* replay<State, Body extends object>(
  step: (state: State, event: DurableEvent) => StepResult<State, Body>,
  start: State,
  events: readonly DurableEvent[],
): Generator<ReplayedEvent<State, Body>, void> {
  let state = start;
  for (const event of events) {
    const [next, frames] = step(state, event);
    state = next;
    yield { event, state, bodies: frames.map(({ body }) => body) };
  }
}
