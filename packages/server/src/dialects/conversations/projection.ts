/** Out: converts the events of a session to frames. `dialect.ts` lists what is not sent. */
import { type DurableEvent, isTurnEvent, type SessionEvent, textOf, wasStopped } from '@parlance/protocol';
import type { SessionRecord, SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { finalAnswer, trackCalls } from '../kit/calls.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { restartText } from '../kit/restart-text.ts';
import {
  agentSelected,
  approvalRequired,
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
import type { Body, ErrorCode } from './contract.ts';
import { addTokens, BETWEEN_BLOCKS, IDLE, measured, type State } from './state.ts';
import { outcomeText, REJECTED, resultOf } from './tool-outcome.ts';

export type { State } from './state.ts';

/** Merges chunks of one message. */
export const pieces: Pieces<Body> = {
  key: (body) => (body.type === 'message_chunk' ? body.payload.messageId : null),
  text: (body) => (body.type === 'message_chunk' ? body.payload.chunk : ''),
  with: (body, text) =>
    body.type === 'message_chunk' ? { ...body, payload: { ...body.payload, chunk: text } } : body,
};

export const projection: Projection<State, Body> = { start, step, attach, pieces };

function start({ ref, agent }: Pick<SessionSnapshot, 'ref' | 'agent'>): State {
  return { ...IDLE, conversationId: ref.id, agent, directInputs: [], openBlock: null };
}

/** The state before the first event of a log. */
export const startOf = ({ ref, agent }: SessionRecord): State =>
  start({ ref, agent: { id: agent, name: agent } });

export function step(before: State, event: SessionEvent): StepResult<State, Body> {
  const calls = trackCalls(before.calls, event);
  const state = calls === before.calls ? before : { ...before, calls };
  if (!isTurnEvent(event)) return [state, NONE];
  switch (event.type) {
    case 'input.accepted':
      if (!event.call) return [state, NONE];
      return [{ ...state, directInputs: [...state.directInputs, event.input] }, NONE];
    case 'turn.started':
      return turnStarted(state, event);
    case 'agent.changed':
      return agentChanged(state, event);
    case 'reasoning.ended':
      return [state, event.interrupted || event.text === '' ? NONE : frames(thought(state, event.text))];
    case 'approval.explained':
      return [state, frames(thought(state, event.text))];
    case 'text.delta':
      if (event.block === state.openBlock)
        return [state, [{ body: chunk(state, state.message, event.text) }]];
      return [{ ...state, openBlock: event.block, hasText: true }, frames(firstChunk(state, event.text))];
    case 'text.ended': {
      const seen = event.block === state.openBlock;
      const openBlock = seen ? null : state.openBlock;
      const next = { ...state, openBlock, texts: [...state.texts, event.text], hasText: true };
      return [next, seen ? NONE : frames(firstChunk(state, event.text))];
    }
    case 'step.ended': {
      const { outputTokens } = event.usage;
      const turnMeter = addTokens(state.turnMeter, outputTokens);
      const agentMeter = addTokens(state.agentMeter, outputTokens);
      return [{ ...state, turnMeter, agentMeter, settled: state.texts.length, hasText: false }, NONE];
    }
    case 'step.restarted':
      return restarted(state, event);
    case 'turn.resumed':
      return resumed(state, event);
    case 'approval.requested': {
      const { tool = 'unknown', input = {} } = state.calls[event.call] ?? {};
      return [state, frames(approvalRequired(state, { ...event, tool, input }))];
    }
    case 'approval.answered':
      return [event.answer === 'deny' ? { ...state, denial: event.reason || REJECTED } : state, NONE];
    case 'tool.ended': {
      const ended = toolEnded(state, event);
      if (state.direct) return [{ ...state, texts: [outcomeText(event, state.denial)] }, ended];
      const answer = finalAnswer(event);
      if (answer === null) return [state, ended];
      const texts = [...state.texts, answer];
      return [{ ...state, texts, settled: texts.length }, [...ended, ...frames(firstChunk(state, answer))]];
    }
    case 'turn.ended':
      return [{ ...state, ...IDLE }, answered(state, event)];
    case 'turn.failed':
      return [{ ...state, ...IDLE }, failure(event, 'stream_error', event.fault.message)];
    case 'turn.cancelled': {
      const cancelled = () => failure(event, 'cancelled', 'Stream cancelled');
      return [{ ...state, ...IDLE }, event.reason === 'denied' ? answered(state, event) : cancelled()];
    }
    case 'input.cancelled':
    case 'call.requested':
    case 'tool.started':
    case 'call.deferred':
    case 'reasoning.delta':
    case 'call.arguments.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

const failure = ({ session }: SessionEvent, code: ErrorCode, message: string): Frame<Body>[] =>
  frames(errorBody(code, message, { conversationId: session }));

/** Sends the answer so far as one chunk, so that the joined chunks are the content for this socket as well. */
function attach(state: State, { turn, open: block, approvals }: SessionSnapshot): Body[] {
  const bodies: Body[] = [];
  const texts = block?.kind === 'text' ? [...state.texts, block.text] : state.texts;
  if (turn && !state.direct && texts.length > 0)
    bodies.push(chunk(state, state.message, texts.join(BETWEEN_BLOCKS)));
  bodies.push(...approvals.map((approval) => approvalRequired(state, approval)));
  return bodies;
}

// The longer steps of the projection.

const frames = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));

function turnStarted(
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
function restarted(before: State, event: DurableEvent<'step.restarted'>): StepResult<State, Body> {
  const { id, fault } = event;
  const words = restartText(event);
  const retrying = words === null ? [] : [thought(before, words)];
  return discarded(before, id, { reason: fault.message, words: retrying });
}

/** Discards the text of the step: sockets on other nodes have received deltas from the failed node. */
const resumed = (before: State, { id }: DurableEvent<'turn.resumed'>): StepResult<State, Body> =>
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

function agentChanged(
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
function answered(state: State, { type, at }: DurableEvent<'turn.ended' | 'turn.cancelled'>): Frame<Body>[] {
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

const firstChunk = (state: State, text: string): Body =>
  chunk(state, state.message, state.texts.length === 0 ? text : BETWEEN_BLOCKS + text);

function toolEnded(state: State, event: DurableEvent<'tool.ended'>): Frame<Body>[] {
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
