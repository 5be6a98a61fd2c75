/** Out: converts the events of a session to frames. `dialect.ts` lists what is not sent. */
import {
  type AgentRef,
  type DurableEvent,
  Fault,
  type FaultCode,
  type InputId,
  isTurnEvent,
  type JsonObject,
  limitNotice,
  type SessionEvent,
  textOf,
  visibleJson,
  wasStopped,
  writtenQuestion,
} from '@parlance/protocol';
import type { PendingApproval, SessionRecord, SessionSnapshot } from '../../core/index.ts';
import type { Pieces } from '../../http/connection.ts';
import { retryField, retryText } from '../kit/faults.ts';
import { type Frame, NONE, type Projection, type StepResult } from '../kit/projection.ts';
import { instructionsText, restartText, rewoundText } from '../kit/texts.ts';
import { type Calls, finalAnswer, NO_CALLS, resultData, trackCalls } from '../kit/tracking.ts';
import type { Body, ErrorCode, Measures } from './contract.ts';

/** Tokens used since a point in time. */
type Meter = { readonly since: number; readonly tokens: number };

export type State = {
  readonly conversationId: string;
  readonly agent: AgentRef;
  readonly calls: Calls;
  /** inputs that are direct calls of a tool */
  readonly directInputs: readonly InputId[];
  /** the turn is a direct call, which no agent answers */
  readonly direct: boolean;
  /** the id of the answer: that of the turn, until the answer restarts */
  readonly message: string;
  /** completed text blocks of the turn */
  readonly texts: readonly string[];
  /** how many of them belong to completed steps */
  readonly settled: number;
  /** clients have received text of the current step */
  readonly hasText: boolean;
  /** the open text block whose beginning clients have received */
  readonly openBlock: string | null;
  readonly turnMeter: Meter;
  readonly agentMeter: Meter;
  /** the reason for the last denial */
  readonly denial: string;
};

export const BETWEEN_BLOCKS = '\n\n';
export const NOTHING: Meter = { since: 0, tokens: 0 };
const IDLE = {
  calls: NO_CALLS,
  direct: false,
  message: '',
  texts: [],
  settled: 0,
  hasText: false,
  turnMeter: NOTHING,
  agentMeter: NOTHING,
  denial: '',
};

const addTokens = ({ since, tokens }: Meter, more: number): Meter => ({
  since,
  tokens: tokens + more,
});
const measured = ({ since, tokens }: Meter, at: number): Measures => ({
  tokenCount: tokens,
  durationMs: at - since,
});

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
    case 'files.rewound':
      return [state, frames(thought(state, rewoundText(event)))];
    case 'limit.approached':
      return [state, frames(thought(state, limitNotice(event.limit)))];
    case 'instructions.changed': {
      const words = instructionsText(event);
      return [state, words === null ? NONE : frames(thought(state, words))];
    }
    case 'text.delta':
      if (event.block === state.openBlock) return [state, [{ body: chunk(state, event.text) }]];
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
      return discarded(state, event.id, event.fault.message, restartText(event));
    case 'turn.resumed':
      // Sockets on other nodes have received deltas from the failed node.
      return discarded(state, event.id, 'The turn was interrupted and is resumed.', null);
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
    case 'question.asked':
    case 'question.repeated': {
      const text = writtenQuestion(event);
      const texts = [...state.texts, text];
      return [{ ...state, texts, settled: texts.length }, frames(firstChunk(state, text))];
    }
    case 'question.answered':
    case 'input.cancelled':
    case 'input.joined':
    case 'call.requested':
    case 'tool.started':
    case 'call.deferred':
    case 'call.delegated':
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
  if (turn && !state.direct && texts.length > 0) bodies.push(chunk(state, texts.join(BETWEEN_BLOCKS)));
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
 * Discards the text of the step: the answer continues under a new id, and completed text is sent again under it. The frame
 * about it is an extension of the contract.
 */
function discarded(before: State, id: string, reason: string, words: string | null): StepResult<State, Body> {
  const retrying = words === null ? [] : [thought(before, words)];
  if (!before.hasText) return [before, frames(...retrying)];
  const { conversationId, message } = before;
  const texts = before.texts.slice(0, before.settled);
  const state = { ...before, message: id, texts, hasText: false, openBlock: null };
  const again = texts.length === 0 ? [] : [chunk(state, texts.join(BETWEEN_BLOCKS))];
  const gone: Body = { type: 'message_discarded', conversationId, payload: { messageId: message, reason } };
  return [state, frames(gone, ...retrying, ...again)];
}

function agentChanged(
  before: State,
  { from, to, reason, at }: DurableEvent<'agent.changed'>,
): StepResult<State, Body> {
  const state = { ...before, agent: to, agentMeter: { since: at, tokens: 0 } };
  const handoff: Body = {
    type: 'workflow_handoff',
    conversationId: state.conversationId,
    payload: { fromAgent: from.name, toAgent: to.name, fromAgentId: from.id, toAgentId: to.id, reason },
  };
  const changed = frames(handoff, agentSelected(state));
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
  const { conversationId, message: messageId, agent, turnMeter } = state;
  const complete: Body = {
    type: 'message_complete',
    conversationId,
    payload: { messageId, content, ...agentFields(agent), metadata: measured(turnMeter, at) },
  };
  const whole = state.direct && content !== '' ? frames(chunk(state, content)) : [];
  return [...whole, ...frames(complete), ...ended];
}

const firstChunk = (state: State, text: string): Body =>
  chunk(state, state.texts.length === 0 ? text : BETWEEN_BLOCKS + text);

function toolEnded(state: State, event: DurableEvent<'tool.ended'>): Frame<Body>[] {
  const { call, outcome } = event;
  const { tool = 'unknown', approval = null } = state.calls[call] ?? {};
  const output = textOf(event.parts);
  const success = outcome === 'ok';
  const { conversationId } = state;
  const executed: Body = {
    type: 'tool_executed',
    conversationId,
    payload: {
      requestId: approval ?? call,
      toolName: tool,
      result: resultOf(event),
      success,
      errorMessage: success ? null : outcome === 'denied' ? state.denial : output,
    },
  };
  const ran = (outcome === 'failed' || outcome === 'unknown') && !wasStopped(event);
  return approval && ran
    ? frames(executed, errorBody('tool_execute_failed', output, { conversationId }))
    : frames(executed);
}

// The outcome of a call, with the same text on the socket and over REST.

export const REJECTED = 'Tool rejected';

/** The tool's data, or its text as `output`. */
export const resultOf = (event: DurableEvent<'tool.ended'>): JsonObject =>
  resultData(event) ?? { output: textOf(event.parts) };

/** The outcome as the content of a message. `denial` is the reason for a denied call. */
function outcomeText(ended: DurableEvent<'tool.ended'>, denial: string): string {
  if (ended.outcome === 'denied') return denial || textOf(ended.parts) || REJECTED;
  return textOf(ended.parts) || JSON.stringify(resultOf(ended));
}

// Frames

/** The conversation that a message belongs to. */
export function conversationOf(body: Body): string | undefined {
  if (body.type === 'PONG') return undefined;
  return body.type === 'conversation_started' ? body.payload.conversationId : body.conversationId;
}

const agentFields = ({ id, name }: AgentRef) => ({ agentId: id, agentName: name });

const agentSelected = ({ conversationId, agent }: State): Body => ({
  type: 'agent_selected',
  conversationId,
  agent_id: agent.id,
  agent_name: agent.name,
});

const stepStart = ({ conversationId, agent }: State, at: number): Body => ({
  type: 'workflow_step_start',
  conversationId,
  payload: { ...agentFields(agent), timestamp: new Date(at).toISOString() },
});

const stepEnd = ({ conversationId, agent, agentMeter }: State, at: number): Body => ({
  type: 'workflow_step_complete',
  conversationId,
  payload: { ...agentFields(agent), ...measured(agentMeter, at) },
});

const thought = ({ conversationId, agent }: State, reason: string): Body => ({
  type: 'workflow_thought',
  conversationId,
  payload: { ...agentFields(agent), reason },
});

const chunk = ({ conversationId, agent, message }: State, text: string): Body => ({
  type: 'message_chunk',
  conversationId,
  payload: { messageId: message, chunk: text, agentName: agent.name },
});

/** Shown to the person who approves the call: nothing may be hidden in the arguments. */
const approvalRequired = (
  { conversationId, agent }: State,
  { approval, tool, input, ask }: Pick<PendingApproval, 'approval' | 'tool' | 'input' | 'ask'>,
): Body => ({
  type: 'tool_approval_required',
  conversationId,
  payload: {
    requestId: approval,
    toolName: tool,
    toolArgs: visibleJson(input) as JsonObject,
    description: ask.description,
    agentName: agent.name,
  },
});

type ErrorDetails = {
  /** absent if the error does not concern a conversation */
  readonly conversationId?: string;
  /** in seconds */
  readonly retryAfter?: number;
};

export const errorBody = (
  code: ErrorCode,
  message: string,
  { conversationId, ...retry }: ErrorDetails = {},
): Body => ({
  type: 'error',
  ...(conversationId === undefined ? {} : { conversationId }),
  error: message,
  payload: { code, message, error: message, ...retry },
});

// Faults

const FAULTS = {
  invalid: 'bad_request',
  empty: 'bad_request',
  too_large: 'bad_request',
  too_slow: 'bad_request',
  unauthenticated: 'forbidden',
  forbidden: 'forbidden',
  not_found: 'not_found',
  no_turn: 'not_found',
  no_approval: 'tool_execute_failed',
  tool_invalid: 'tool_request_failed',
  tool_failed: 'tool_execute_failed',
  busy: 'bad_request',
  nothing_to_compact: 'bad_request',
  cancelled: 'cancelled',
  too_many_steps: 'stream_error',
  provider_unavailable: 'stream_error',
  provider_limited: 'stream_error',
  provider_rejected: 'stream_error',
  context_too_long: 'stream_error',
  answer_too_long: 'stream_error',
  budget_exhausted: 'stream_error',
  limited: 'bad_request',
  overloaded: 'stream_error',
  shutting_down: 'stream_error',
  storage_unavailable: 'stream_error',
  internal: 'stream_error',
} satisfies Record<FaultCode, ErrorCode>;

/** The `error` frame of a fault. */
export const faultBody = (fault: Fault, conversationId?: string): Body =>
  errorBody(FAULTS[fault.code], retryText(fault), { conversationId, ...retryField('retryAfter', fault) });

/** Replaces the messages of some faults with those of the contract. */
export async function withMessages(
  work: Promise<unknown>,
  messages: Partial<Record<FaultCode, string>>,
): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    const text = thrown instanceof Fault ? messages[thrown.code] : undefined;
    if (!(thrown instanceof Fault) || text === undefined) throw thrown;
    throw new Fault(thrown.code, text, { cause: thrown });
  }
}
