/** The longer steps of the projection. */
import { type DurableEvent, textOf, wasStopped } from '@parlance/protocol';
import { type Frame, NONE, type StepResult } from '../shared/projection.ts';
import { restartText } from '../shared/restart-text.ts';
import {
  agentSelected,
  type Body,
  chunk,
  errorBody,
  handoff,
  messageComplete,
  messageDiscarded,
  stepComplete,
  stepStart,
  thought,
  toolExecuted,
} from './bodies.ts';
import { BETWEEN_BLOCKS, IDLE, measured, type State } from './state.ts';
import { resultOf } from './tool-outcome.ts';

export const frames = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));

export function turnStarted(
  before: State,
  { turn, input, agent, at }: DurableEvent<'turn.started'>,
): StepResult<State, Body> {
  const direct = before.directInputs.includes(input);
  const directInputs = direct ? before.directInputs.filter((known) => known !== input) : before.directInputs;
  const meter = { since: at, tokens: 0 };
  const state = {
    ...before,
    ...IDLE,
    message: turn,
    agent,
    direct,
    directInputs,
    turnMeter: meter,
    agentMeter: meter,
  };
  return [state, direct ? NONE : frames(agentSelected(state), stepStart(state, at))];
}

/**
 * Discards the text of the step: the answer continues under a new id, and completed text is sent again under
 * it.
 */
export function restarted(before: State, event: DurableEvent<'step.restarted'>): StepResult<State, Body> {
  const { id, fault } = event;
  const words = restartText(event);
  const retrying = words === null ? [] : [thought(before, words)];
  return discarded(before, id, { reason: fault.message, words: retrying });
}

/** Discards the text of the step: sockets on other nodes have received deltas from the failed node. */
export const resumed = (before: State, { id }: DurableEvent<'turn.resumed'>): StepResult<State, Body> =>
  discarded(before, id, { reason: 'The turn was interrupted and is resumed.', words: [] });

function discarded(
  before: State,
  id: string,
  { reason, words }: { readonly reason: string; readonly words: readonly Body[] },
): StepResult<State, Body> {
  if (!before.hasText) return [before, frames(...words)];
  const texts = before.texts.slice(0, before.settled);
  const state = { ...before, message: id, texts, hasText: false, openBlock: null };
  const again = state.texts.length === 0 ? [] : [chunk(state, id, state.texts.join(BETWEEN_BLOCKS))];
  return [state, frames(messageDiscarded(before, before.message, reason), ...words, ...again)];
}

export function agentChanged(
  before: State,
  { from, to, reason, at }: DurableEvent<'agent.changed'>,
): StepResult<State, Body> {
  const state = { ...before, agent: to, agentMeter: { since: at, tokens: 0 } };
  const changed = frames(handoff(state, from, reason), agentSelected(state));
  if (before.direct) return [state, changed];
  return [state, [...frames(stepEnd(before, at)), ...changed, ...frames(stepStart(state, at))]];
}

/**
 * A turn with only a direct call is answered with the outcome of the call, also as a chunk: clients show nothing
 * else. A turn ended by a denial may have no answer.
 */
export function answered(
  state: State,
  { type, at }: DurableEvent<'turn.ended' | 'turn.cancelled'>,
): Frame<Body>[] {
  const ended = state.direct ? [] : frames(stepEnd(state, at));
  if (type === 'turn.cancelled' && state.texts.length === 0) return ended;
  const content = state.texts.join(BETWEEN_BLOCKS);
  const complete = messageComplete(state, {
    messageId: state.message,
    content,
    metadata: measured(state.turnMeter, at),
  });
  const whole = state.direct && content !== '' ? frames(chunk(state, state.message, content)) : [];
  return [...whole, ...frames(complete), ...ended];
}

const stepEnd = (state: State, at: number): Body => stepComplete(state, measured(state.agentMeter, at));

export const firstChunk = (state: State, text: string): Body =>
  chunk(state, state.message, state.texts.length === 0 ? text : BETWEEN_BLOCKS + text);

export function toolEnded(state: State, event: DurableEvent<'tool.ended'>): Frame<Body>[] {
  const { call, outcome } = event;
  const { tool = 'unknown', approval = null } = state.calls[call] ?? {};
  const output = textOf(event.parts);
  const success = outcome === 'ok';
  const executed = toolExecuted(state, {
    requestId: approval ?? call,
    toolName: tool,
    result: resultOf(event),
    success,
    errorMessage: success ? null : outcome === 'denied' ? state.denial : output,
  });
  const ran = (outcome === 'failed' || outcome === 'unknown') && !wasStopped(event);
  return approval && ran
    ? frames(executed, errorBody('tool_execute_failed', output, { conversationId: state.conversationId }))
    : frames(executed);
}
