/**
 * `broadcast`: simple chat pages and REPLs. Every socket of a principal hears all of that principal's sessions. The
 * contract has no frames for streaming, approval, cancel or ping: text goes out whole, and a cancelled turn ends in an
 * `error`. A waiting approval goes out as `agent_thinking` and, when it is raised, also as an `agent_message`, because
 * some pages render nothing else; a chat that is just yes or no answers it.
 */
import { Fault, type FaultCode, isObject, type SessionEvent, textOf } from '@parlance/protocol';
import type { Hono } from 'hono';
import type { SessionSnapshot } from '../../core/api/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { principalOf } from '../../http/request-identity.ts';
import { questionWords, waitingWords } from '../shared/approval-words.ts';
import { type Calls, firstSeen, NO_CALLS, type TrackedCall, trackCalls } from '../shared/calls.ts';
import { sendChat } from '../shared/chat-input.ts';
import {
  type DialectContext,
  defineDialect,
  type Frame,
  NONE,
  reported,
  requestIds,
  type Stepped,
  socketIds,
} from '../shared/dialect.ts';
import { HTTP_STATUS } from '../shared/http-status.ts';
import { type Inputs, NO_INPUTS, trackInputs } from '../shared/inputs.ts';
import { restartWords } from '../shared/restart-words.ts';
import { retryField, retryWords } from '../shared/retry.ts';
import type { SubscriptionHub } from '../shared/subscription-hub.ts';

export const broadcast = defineDialect<State>({
  name: 'broadcast',
  projection: { start, step, attach },
  open,
  routes,
});

// In

/** Everything that a client may say. */
export const KNOWN_TYPES = ['chat'] as const;

function open(socket: Socket, ctx: DialectContext, hub: SubscriptionHub<State>): Connection {
  const { engine } = ctx;
  const { principal } = socket;
  /** the session of chats that name none: it lasts as long as the socket */
  const anonymous = ctx.newId();

  async function chat(frame: Record<string, unknown>, arrivedAt: number): Promise<void> {
    if (!principal) throw new Fault('unauthenticated', 'A token is required.');
    const message = trimmed(frame, 'message');
    if (message === '') throw new Fault('empty', 'Empty message received');
    const name = trimmed(frame, 'session_id');
    const ref = await engine.resolve(principal, name || anonymous);
    if (ref.owner !== principal.id) await hub.join(ref, socket);
    const caller = { principal, dialect: 'broadcast', via: socket.id };
    const queued = await sendChat(engine, { ref, text: message, named: name !== '', arrivedAt }, caller);
    if (queued) await hub.show(ref, socket);
    // Chats of one socket queue: the next is read when this one has its answer, or waits for a person.
    await engine.rested(ref);
  }

  return {
    async opened() {
      if (!principal) return socket.close(1008, 'A token is required.');
      hub.subscribeOwner(principal.id, socket);
      const ref = socket.session === null ? null : await engine.find(principal, socket.session);
      if (ref) await (ref.owner === principal.id ? hub.show(ref, socket) : hub.join(ref, socket));
    },
    async receive(frame, arrivedAt) {
      try {
        if (!isObject(frame)) throw new Fault('invalid', 'a message must be a JSON object');
        if (frame.type !== KNOWN_TYPES[0])
          return socket.send(error(`Unknown message type: ${typeWord(frame.type)}`));
        await chat(frame, arrivedAt);
      } catch (thrown) {
        socket.send(faultFrame(reported(thrown, ctx, socketIds(socket))));
      }
    },
    onInvalidFrame: (reason) => socket.send(faultFrame(new Fault('invalid', reason))),
    onRateLimited: (fault) => socket.send(faultFrame(fault)),
    closed: () => hub.leave(socket),
    draining: () => socket.send(faultFrame(new Fault('shutting_down', 'The server is shutting down.'))),
  };
}

function trimmed(frame: Record<string, unknown>, field: string): string {
  const value = frame[field] ?? '';
  if (typeof value !== 'string') throw new Fault('invalid', `${field} must be a string`);
  return value.trim();
}

/** An object has no word: what it says of itself is the sender's, and may be nothing that can be called. */
function typeWord(type: unknown): string {
  if (type === undefined || type === null) return 'None';
  return typeof type === 'object' ? 'object' : String(type).slice(0, 100);
}

function routes(app: Hono, ctx: DialectContext): void {
  const { engine, authenticator } = ctx;
  app.get('/api/health', (c) => c.json({ status: 'ok' }));
  app.get('/api/config', async (c) => {
    try {
      await principalOf(authenticator, c.req.raw);
    } catch (thrown) {
      const { code, message } = reported(thrown, ctx, requestIds(c.req.raw));
      return c.json({ error: message, detail: message }, HTTP_STATUS[code]);
    }
    return c.json({ max_iterations: engine.maxSteps, working_dir: engine.root });
  });
}

// Out

type Body =
  | { type: 'user_message' | 'agent_message'; message: string; session_id?: string }
  | { type: 'agent_thinking'; reasoning: string; session_id?: string }
  | { type: 'tool_call'; tool_name: string; tool_args: string; session_id?: string }
  | {
      type: 'tool_result';
      tool_name: string;
      result: string;
      /** the same text: some pages read this field */
      tool_result: string;
      success: boolean;
      session_id?: string;
    }
  | { type: 'error'; error: string; retry_after?: number; session_id?: string };

type State = {
  /** undefined where the session has no name that a client could use */
  readonly session_id: string | undefined;
  readonly inputs: Inputs;
  readonly calls: Calls;
  /** the text of the last step: an answer if the turn ends, a thought if calls follow */
  readonly text: string | null;
  /** the outcome of the last call: the answer of a turn without text */
  readonly result: string;
};

function start(now: SessionSnapshot): State {
  return { ...REST, inputs: NO_INPUTS, session_id: now.created?.named === false ? undefined : now.ref.id };
}

function step(before: State, event: SessionEvent): Stepped<State, Body> {
  const calls = trackCalls(before.calls, event);
  const inputs = trackInputs(before.inputs, event);
  const state = calls === before.calls && inputs === before.inputs ? before : { ...before, calls, inputs };
  const { session_id } = state;
  const say = (...bodies: Body[]): Frame<Body>[] =>
    bodies.map((body) => ({ body: session_id === undefined ? body : { ...body, session_id } }));
  switch (event.type) {
    case 'session.created':
      return [{ ...state, session_id: event.named ? event.session : undefined }, NONE];
    case 'turn.started': {
      const input = before.inputs[event.input];
      return [state, input ? say({ type: 'user_message', message: textOf(input.parts) }) : NONE];
    }
    case 'reasoning.ended':
      return [state, event.text === '' ? NONE : say(thinking(event.text))];
    case 'text.ended':
      if (event.interrupted) return [state, NONE];
      return [{ ...state, text: state.text === null ? event.text : `${state.text}\n\n${event.text}` }, NONE];
    case 'turn.resumed':
      return [{ ...state, text: null }, NONE];
    case 'step.restarted': {
      const words = restartWords(event);
      return [{ ...state, text: null }, words === null ? NONE : say(thinking(words))];
    }
    case 'call.requested':
      return [{ ...state, text: null }, state.text ? say(thinking(state.text)) : NONE];
    case 'approval.requested':
      return [
        state,
        say(thinking(waitingWords(event.ask)), { type: 'agent_message', message: questionWords(event.ask) }),
      ];
    case 'approval.explained':
      return [state, say(thinking(event.text))];
    case 'approval.answered':
      return [state, event.said === undefined ? NONE : say({ type: 'user_message', message: event.said })];
    case 'tool.started': {
      const call = firstSeen(before.calls, event);
      return [state, call ? say(toolCall(call)) : NONE];
    }
    case 'tool.ended': {
      const call = firstSeen(before.calls, event);
      const result = textOf(event.parts);
      const tool_name = state.calls[event.call]?.tool ?? 'unknown';
      const success = event.outcome === 'ok';
      const ended: Body = { type: 'tool_result', tool_name, result, tool_result: result, success };
      return [{ ...state, result }, call ? say(toolCall(call), ended) : say(ended)];
    }
    case 'agent.changed':
      return [state, say(thinking(`${event.from.name} hands over to ${event.to.name}: ${event.reason}`))];
    case 'turn.ended':
      return [{ ...state, ...REST }, say({ type: 'agent_message', message: state.text ?? state.result })];
    case 'turn.failed':
      return [{ ...state, ...REST }, say(error(FAULTS[event.fault.code](event.fault.message)))];
    case 'turn.cancelled':
      return [{ ...state, ...REST }, say(error(CANCELLED[event.reason]))];
    case 'input.accepted':
    case 'session.cleared':
    case 'step.ended':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
    case 'call.deferred':
    case 'grant.revoked':
    case 'context.compacted':
    case 'text.delta':
    case 'reasoning.delta':
    case 'call.progress':
    case 'session.erased':
      return [state, NONE];
  }
}

function attach(state: State, now: SessionSnapshot): Body[] {
  if (!now.approval) return [];
  const { session_id } = state;
  return [
    { ...thinking(waitingWords(now.approval.ask)), ...(session_id === undefined ? {} : { session_id }) },
  ];
}

const REST = { calls: NO_CALLS, text: null, result: '' };
const thinking = (reasoning: string): Body => ({ type: 'agent_thinking', reasoning });
const toolCall = ({ tool, input }: TrackedCall): Body => ({
  type: 'tool_call',
  tool_name: tool,
  tool_args: JSON.stringify(input),
});

// Faults

const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

const asIs = (message: string): string => message;
const serverError = (message: string): string => `Server error: ${message}`;

const FAULTS = {
  invalid: serverError,
  too_large: serverError,
  too_slow: serverError,
  internal: serverError,
  empty: () => 'Empty message received',
  unauthenticated: asIs,
  forbidden: asIs,
  not_found: asIs,
  no_turn: asIs,
  no_approval: asIs,
  tool_invalid: asIs,
  tool_failed: asIs,
  busy: asIs,
  nothing_to_compact: asIs,
  cancelled: asIs,
  too_many_steps: asIs,
  provider_unavailable: asIs,
  provider_limited: asIs,
  provider_rejected: asIs,
  context_too_long: asIs,
  answer_too_long: asIs,
  limited: asIs,
  overloaded: asIs,
  shutting_down: asIs,
  storage_unavailable: asIs,
} satisfies Record<FaultCode, (message: string) => string>;

const error = (text: string): Body => ({ type: 'error', error: text });

const faultFrame = (fault: Fault): Body => ({
  ...error(FAULTS[fault.code](retryWords(fault))),
  ...retryField('retry_after', fault),
});
