/**
 * `conversations`: multi-agent chat applications with logins. Every socket needs a token; one without is accepted and
 * closed with 1008. A socket sees the conversations it starts, sends to or names by `?session=`, and those of its user
 * that are under way when it connects. The contract has no frames for what other people write, for progress of a call
 * and for compaction: these are not told. A standing "always" cannot be said: an approval counts once.
 */
import {
  type AgentRef,
  type Fact,
  Fault,
  type FaultCode,
  type InputId,
  isObject,
  LOCAL,
  type Principal,
  type SessionEvent,
  textOf,
  textPart,
} from '@parlance/protocol';
import {
  type Connection,
  type Now,
  requirePermission,
  type SessionRef,
  type Socket,
} from '../../core/engine.ts';
import type { Audience } from '../audience.ts';
import { type Calls, NO_CALLS, trackCalls } from '../calls.ts';
import { defineDialect, type Frame, NONE, reported, type Stepped, type Surroundings } from '../dialect.ts';
import {
  agentSelected,
  approvalRequired,
  type Body,
  chunk,
  type ErrorCode,
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
import { ApproveTool, CancelStream, directCall, read, SendMessage, StartConversation } from './requests.ts';
import { routes } from './routes.ts';
import { ownUnderWay } from './under-way.ts';

export const conversations = defineDialect<State>({
  name: 'conversations',
  projection: { start, step, attach },
  open,
  routes,
});

// In

function open(socket: Socket, around: Surroundings, audience: Audience<State>): Connection {
  const { principal } = socket;
  // `local` is whoever came without a token; this contract has no such callers.
  if (!principal || principal.id === LOCAL.id) return refused(socket);
  return spoken(socket, principal, around, audience);
}

const refused = (socket: Socket): Connection => ({
  opened: () => socket.close(1008, 'A token is required.'),
  receive: () => undefined,
  garbled: () => undefined,
  closed: () => undefined,
  draining: () => undefined,
});

function spoken(
  socket: Socket,
  principal: Principal,
  around: Surroundings,
  audience: Audience<State>,
): Connection {
  const { engine } = around;
  const caller = { principal, dialect: 'conversations', via: socket.id };
  const say = (body: Body) => socket.send(body);
  const complain = (thrown: unknown, conversationId?: string) => {
    const { code, message } = reported(thrown, around);
    say(errorBody(FAULTS[code], message, conversationId));
  };

  async function take(frame: Record<string, unknown>): Promise<void> {
    if (typeof frame.type !== 'string') throw new Fault('invalid', 'type is required');
    switch (frame.type) {
      case 'PING':
        return say({ type: 'PONG' });
      case 'start_conversation':
        return startConversation(frame);
      case 'send_message':
        return sendMessage(frame);
      case 'cancel_stream':
        return cancelStream(frame);
      case 'approve_tool':
        return approveTool(frame);
      default:
        throw new Fault('invalid', `Unknown event type: ${frame.type.slice(0, 100)}`);
    }
  }

  async function startConversation(frame: Record<string, unknown>): Promise<void> {
    const { payload } = read(StartConversation, frame, 'domainId is required');
    const domain = payload.domainId;
    const ref = await engine.resolve(principal, around.newId());
    await engine.send(ref, { type: 'session.create', domain }, caller);
    await audience.join(ref, socket);
    const { defaultAgent } = engine.roster.domain(domain);
    say({
      type: 'conversation_started',
      payload: { conversationId: ref.id, domainId: domain, activeAgent: defaultAgent },
    });
  }

  async function sendMessage(frame: Record<string, unknown>): Promise<void> {
    const { conversationId, payload } = read(
      SendMessage,
      frame,
      'conversationId and payload.content are required',
    );
    requirePermission(principal, 'chat:send');
    const ref = await addressed(conversationId);
    if (!ref) throw new Fault('not_found', 'Unknown conversationId');
    const call = directCall(payload.content);
    // Joined first: nothing of the turn is missed.
    await audience.join(ref, socket);
    const parts = [textPart(payload.content)];
    await engine.send(ref, { type: 'input.submit', parts, call, mode: 'supersede' }, caller);
  }

  /** A client may invent the id of a new conversation, in this form only. */
  const addressed = (id: string): Promise<SessionRef | null> =>
    id.startsWith('temp-') ? engine.resolve(principal, id) : engine.find(principal, id);

  async function cancelStream(frame: Record<string, unknown>): Promise<void> {
    const { conversationId } = read(CancelStream, frame, 'conversationId is required');
    const ref = await engine.find(principal, conversationId);
    if (!ref) throw new Fault('not_found', 'No active stream');
    await audience.join(ref, socket);
    await worded(engine.send(ref, { type: 'turn.cancel' }, caller), { no_turn: 'No active stream' });
  }

  async function approveTool(frame: Record<string, unknown>): Promise<void> {
    const {
      conversationId,
      requestId: approval,
      payload: { approved, reason },
    } = read(ApproveTool, frame, 'conversationId, requestId and payload.approved are required');
    requirePermission(principal, approved ? 'tool:approve' : 'tool:reject');
    const ref = await engine.find(principal, conversationId);
    if (!ref) throw new Fault('not_found', 'Unknown requestId');
    await audience.join(ref, socket);
    const answer = approved
      ? ({ type: 'approval.answer', approval, answer: 'once' } as const)
      : ({ type: 'approval.answer', approval, answer: 'deny', reason: reason || undefined } as const);
    await worded(engine.send(ref, answer, caller), {
      not_found: 'Unknown requestId',
      no_approval: 'The tool request was answered already',
    });
    if (!approved) say(errorBody('rejected', REJECTED, conversationId));
  }

  return {
    async opened() {
      try {
        for await (const ref of ownUnderWay(engine, principal)) await audience.join(ref, socket);
        const named = socket.session === null ? null : await engine.find(principal, socket.session);
        if (named) await audience.join(named, socket);
      } catch (thrown) {
        complain(thrown);
      }
    },
    async receive(frame) {
      try {
        if (!isObject(frame)) throw new Fault('invalid', 'A message must be a JSON object');
        await take(frame);
      } catch (thrown) {
        const id = isObject(frame) ? frame.conversationId : undefined;
        complain(thrown, typeof id === 'string' ? id : undefined);
      }
    },
    garbled: (reason) => complain(new Fault('invalid', `Invalid message: ${reason}`)),
    closed: () => audience.leave(socket),
    // The contract has no words for it. An `error` would end a stream that goes on after the reconnect.
    draining: () => undefined,
  };
}

/** The contract's words where the core has its own. */
async function worded(work: Promise<unknown>, words: Partial<Record<FaultCode, string>>): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    const text = thrown instanceof Fault ? words[thrown.code] : undefined;
    if (!(thrown instanceof Fault) || text === undefined) throw thrown;
    throw new Fault(thrown.code, text, { cause: thrown });
  }
}

// Out

/** What was spent since a moment. */
type Meter = { readonly since: number; readonly tokens: number };

type State = {
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

function start({ ref, agent, open: block }: Now): State {
  return {
    ...REST,
    conversationId: ref.id,
    agent,
    directInputs: [],
    begun: block?.kind === 'text' ? block.block : null,
  };
}

function step(before: State, event: SessionEvent): Stepped<State, Body> {
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
    case 'tool.ended':
      return [state, toolEnded(state, event)];
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
    case 'call.deferred':
    case 'grant.revoked':
    case 'context.compacted':
    case 'reasoning.delta':
    case 'call.progress':
      return [state, NONE];
  }
}

/** The answer so far as one chunk, so that the chunks joined are the content for this socket too. */
function attach(state: State, { turn, open: block, approval }: Now): Body[] {
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

function turnStarted(before: State, { turn, input, agent, at }: Fact<'turn.started'>): Stepped<State, Body> {
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
function restarted(before: State, { id, fault }: Fact<'step.restarted'>): Stepped<State, Body> {
  const retrying = thought(before, `Trying again: ${fault.message}`);
  if (!before.said) return [before, told(retrying)];
  const state = { ...before, message: id, texts: before.texts.slice(0, before.settled), said: false };
  const discarded = messageDiscarded(before, before.message, fault.message);
  const again = state.texts.length === 0 ? [] : [chunk(state, id, state.texts.join(BETWEEN_BLOCKS))];
  return [state, told(discarded, retrying, ...again)];
}

function agentChanged(before: State, { from, to, reason, at }: Fact<'agent.changed'>): Stepped<State, Body> {
  const state = { ...before, agent: to, agentMeter: { since: at, tokens: 0 } };
  const changed = told(handoff(state, from, reason), agentSelected(state));
  if (before.direct) return [state, changed];
  return [state, [...told(stepEnd(before, at)), ...changed, ...told(stepStart(state, at))]];
}

/** A turn that was one call has no answer of its own; one that a denial ended may have none. */
function answered(state: State, { type, at }: Fact<'turn.ended' | 'turn.cancelled'>): Frame<Body>[] {
  if (state.direct) return [];
  const ended = told(stepEnd(state, at));
  if (type === 'turn.cancelled' && state.texts.length === 0) return ended;
  const content = state.texts.join(BETWEEN_BLOCKS);
  return [...told(messageComplete(state, state.message, content, measured(state.turnMeter, at))), ...ended];
}

const stepEnd = (state: State, at: number): Body => stepComplete(state, measured(state.agentMeter, at));

const firstChunk = (state: State, text: string): Body =>
  chunk(state, state.message, state.texts.length === 0 ? text : BETWEEN_BLOCKS + text);

function toolEnded(state: State, { call, outcome, parts, data }: Fact<'tool.ended'>): Frame<Body>[] {
  const { tool = 'unknown', approval = null } = state.calls[call] ?? {};
  const output = textOf(parts);
  const success = outcome === 'ok';
  const problem = outcome === 'denied' ? state.denial : output;
  const executed = toolExecuted(state, {
    requestId: approval ?? call,
    toolName: tool,
    result: data ?? { output },
    success,
    errorMessage: success ? null : problem,
  });
  const ran = outcome === 'failed' || outcome === 'unknown';
  return approval && ran
    ? told(executed, errorBody('tool_execute_failed', output, state.conversationId))
    : told(executed);
}

const told = (...bodies: Body[]): Frame<Body>[] => bodies.map((body) => ({ body }));

// Faults

const REJECTED = 'Tool rejected';

const FAULTS = {
  invalid: 'bad_request',
  empty: 'bad_request',
  too_large: 'bad_request',
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
  overloaded: 'stream_error',
  shutting_down: 'stream_error',
  internal: 'stream_error',
} satisfies Record<FaultCode, ErrorCode>;
