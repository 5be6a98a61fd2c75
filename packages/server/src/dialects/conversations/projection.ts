/** Out: what happens in a session as the frames of the contract. See `dialect.ts` for what is not told. */
import {
  type AgentRef,
  type DurableEvent,
  type InputId,
  type SessionEvent,
  textOf,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { type Calls, NO_CALLS, trackCalls } from '../shared/calls.ts';
import { type Frame, NONE, type Projection, type Stepped } from '../shared/projection.ts';
import { restartWords } from '../shared/restart-words.ts';
import {
  agentSelected,
  approvalRequired,
  type Body,
  chunk,
  errorBody,
  handoff,
  type Measures,
  messageComplete,
  messageDiscarded,
  stepComplete,
  stepStart,
  thought,
  toolExecuted,
} from './bodies.ts';
import { outcomeText, REJECTED, resultOf } from './tool-outcome.ts';

/** Chunks of one message. */
export const pieces: Pieces<Body> = {
  key: (body) => (body.type === 'message_chunk' ? body.payload.messageId : null),
  text: (body) => (body.type === 'message_chunk' ? body.payload.chunk : ''),
  with: (body, text) =>
    body.type === 'message_chunk' ? { ...body, payload: { ...body.payload, chunk: text } } : body,
};

export const projection: Projection<State, Body> = { start, step, attach, pieces };

/** What was spent since a moment. */
type Meter = { readonly since: number; readonly tokens: number };

export type State = {
  readonly conversationId: string;
  readonly agent: AgentRef;
  readonly calls: Calls;
  /** inputs that ask for a tool by name */
  readonly directInputs: readonly InputId[];
  /** the turn is one call that was asked for by name: no agent speaks in it */
  readonly direct: boolean;
  /** the id of the turn's answer: the turn's own, until an answer is begun anew */
  readonly message: string;
  /** the text blocks of the turn that are complete */
  readonly texts: readonly string[];
  /** how many of them belong to steps that are complete */
  readonly settled: number;
  /** clients have seen text of the step that is not complete */
  readonly said: boolean;
  /** the text block of which clients have seen the beginning; ids are not used twice, so it need not be reset */
  readonly begun: string | null;
  readonly turnMeter: Meter;
  readonly agentMeter: Meter;
  /** why the last denied call was denied */
  readonly denial: string;
};

export function start({ ref, agent, open: block }: Pick<SessionSnapshot, 'ref' | 'agent' | 'open'>): State {
  return {
    ...REST,
    conversationId: ref.id,
    agent,
    directInputs: [],
    begun: block?.kind === 'text' ? block.block : null,
  };
}

export function step(before: State, event: SessionEvent): Stepped<State, Body> {
  const calls = trackCalls(before.calls, event);
  const state = calls === before.calls ? before : { ...before, calls };
  switch (event.type) {
    case 'input.accepted':
      if (!event.call) return [state, NONE];
      return [{ ...state, directInputs: [...state.directInputs, event.input] }, NONE];
    case 'turn.started':
      return turnStarted(state, event);
    case 'agent.changed':
      return agentChanged(state, event);
    case 'reasoning.ended':
      return [state, event.interrupted || event.text === '' ? NONE : told(thought(state, event.text))];
    case 'approval.explained':
      return [state, told(thought(state, event.text))];
    case 'text.delta':
      if (event.block === state.begun) return [state, [{ body: chunk(state, state.message, event.text) }]];
      return [{ ...state, begun: event.block, said: true }, told(firstChunk(state, event.text))];
    case 'text.ended': {
      const seen = event.block === state.begun;
      const next = { ...state, texts: [...state.texts, event.text], said: true };
      return [next, seen ? NONE : told(firstChunk(state, event.text))];
    }
    case 'step.ended': {
      const { outputTokens } = event.usage;
      const turnMeter = spend(state.turnMeter, outputTokens);
      const agentMeter = spend(state.agentMeter, outputTokens);
      return [{ ...state, turnMeter, agentMeter, settled: state.texts.length, said: false }, NONE];
    }
    case 'step.restarted':
      return restarted(state, event);
    case 'approval.requested': {
      const { tool = 'unknown', input = {} } = state.calls[event.call] ?? {};
      return [state, told(approvalRequired(state, { ...event, tool, input }))];
    }
    case 'approval.answered':
      return [event.answer === 'deny' ? { ...state, denial: event.reason || REJECTED } : state, NONE];
    case 'tool.ended': {
      const content = outcomeText(event, state.denial);
      return [state.direct ? { ...state, texts: [content] } : state, toolEnded(state, event)];
    }
    case 'turn.ended':
      return [{ ...state, ...REST }, answered(state, event)];
    case 'turn.failed':
      return [{ ...state, ...REST }, told(errorBody('stream_error', event.fault.message, event.session))];
    case 'turn.cancelled': {
      const cancelled = () => told(errorBody('cancelled', 'Stream cancelled', event.session));
      return [{ ...state, ...REST }, event.reason === 'denied' ? answered(state, event) : cancelled()];
    }
    // After a restart the unfinished block is told anew under a new id. Every socket that hears it joined after the
    // restart, and was shown only what is in `texts`: for each, the chunks joined are the content.
    case 'turn.resumed':
    case 'session.created':
    case 'session.cleared':
    case 'call.requested':
    case 'tool.started':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
    case 'call.deferred':
    case 'grant.revoked':
    case 'context.compacted':
    case 'reasoning.delta':
    case 'call.progress':
    case 'session.erased':
      return [state, NONE];
  }
}

/** The answer so far as one chunk, so that the chunks joined are the content for this socket too. */
function attach(state: State, { turn, open: block, approval }: SessionSnapshot): Body[] {
  const bodies: Body[] = [];
  const texts = block?.kind === 'text' ? [...state.texts, block.text] : state.texts;
  if (turn && texts.length > 0) bodies.push(chunk(state, state.message, texts.join(BETWEEN_BLOCKS)));
  if (approval) bodies.push(approvalRequired(state, approval));
  return bodies;
}

const BETWEEN_BLOCKS = '\n\n';
const NOTHING: Meter = { since: 0, tokens: 0 };
const REST = {
  calls: NO_CALLS,
  direct: false,
  message: '',
  texts: [],
  settled: 0,
  said: false,
  turnMeter: NOTHING,
  agentMeter: NOTHING,
  denial: '',
};

const spend = ({ since, tokens }: Meter, more: number): Meter => ({ since, tokens: tokens + more });
const measured = ({ since, tokens }: Meter, at: number): Measures => ({
  tokenCount: tokens,
  durationMs: at - since,
});

function turnStarted(
  before: State,
  { turn, input, agent, at }: DurableEvent<'turn.started'>,
): Stepped<State, Body> {
  const direct = before.directInputs.includes(input);
  const directInputs = direct ? before.directInputs.filter((known) => known !== input) : before.directInputs;
  const meter = { since: at, tokens: 0 };
  const state = {
    ...before,
    ...REST,
    message: turn,
    agent,
    direct,
    directInputs,
    turnMeter: meter,
    agentMeter: meter,
  };
  return [state, direct ? NONE : told(agentSelected(state), stepStart(state, at))];
}

/** What was shown of the step is void: the answer goes on under a new id, and what stands is told again under it. */
function restarted(before: State, event: DurableEvent<'step.restarted'>): Stepped<State, Body> {
  const { id, fault } = event;
  const words = restartWords(event);
  const retrying = words === null ? [] : [thought(before, words)];
  if (!before.said) return [before, told(...retrying)];
  const state = { ...before, message: id, texts: before.texts.slice(0, before.settled), said: false };
  const discarded = messageDiscarded(before, before.message, fault.message);
  const again = state.texts.length === 0 ? [] : [chunk(state, id, state.texts.join(BETWEEN_BLOCKS))];
  return [state, told(discarded, ...retrying, ...again)];
}

function agentChanged(
  before: State,
  { from, to, reason, at }: DurableEvent<'agent.changed'>,
): Stepped<State, Body> {
  const state = { ...before, agent: to, agentMeter: { since: at, tokens: 0 } };
  const changed = told(handoff(state, from, reason), agentSelected(state));
  if (before.direct) return [state, changed];
  return [state, [...told(stepEnd(before, at)), ...changed, ...told(stepStart(state, at))]];
}

/** The answer of a turn that was one call is the outcome of the call. A turn that a denial ended may have no answer. */
function answered(state: State, { type, at }: DurableEvent<'turn.ended' | 'turn.cancelled'>): Frame<Body>[] {
  const ended = state.direct ? [] : told(stepEnd(state, at));
  if (type === 'turn.cancelled' && state.texts.length === 0) return ended;
  const content = state.texts.join(BETWEEN_BLOCKS);
  return [...told(messageComplete(state, state.message, content, measured(state.turnMeter, at))), ...ended];
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
  const ran = outcome === 'failed' || outcome === 'unknown';
  return approval && ran
    ? told(executed, errorBody('tool_execute_failed', output, state.conversationId))
    : told(executed);
}

const told = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));
