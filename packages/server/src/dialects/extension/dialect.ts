/**
 * `extension`: browser extensions and C clients. A socket sees the sessions that it chats in, clears, or was opened
 * with; after registration it may also be asked to run tools. The contract has no frames for streaming, approval or
 * cancel: text goes out whole, and a cancelled turn ends in an `error`. A waiting approval goes out as `agent_status`
 * using_tool and, for popups that render only responses, as an `agent_response` that is the question; a chat that is
 * just yes or no answers it. What other people say in a session is not shown.
 */
import {
  type Ask,
  Fault,
  type FaultCode,
  isDurable,
  isObject,
  type Principal,
  type SessionEvent,
  SessionId,
  textOf,
} from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/api/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { questionWords, waitingWords } from '../shared/approval-words.ts';
import { type Calls, NO_CALLS, trackCalls } from '../shared/calls.ts';
import { sendChat } from '../shared/chat-input.ts';
import {
  type DialectContext,
  defineDialect,
  type Frame,
  NONE,
  reported,
  type Stepped,
  socketIds,
} from '../shared/dialect.ts';
import { nthId, stampedId } from '../shared/ids.ts';
import { restartWords } from '../shared/restart-words.ts';
import { retryWords } from '../shared/retry.ts';
import { NOTHING, type SubscriptionHub } from '../shared/subscription-hub.ts';
import {
  type Body,
  type Content,
  confirmation,
  type ErrorCode,
  type Status,
  stamped,
  statusContent,
  type ToolUse,
} from './bodies.ts';
import {
  ChatMessage,
  ClearConversation,
  ClientRegistration,
  isKnown,
  Ping,
  read,
  ToolExecutionResponse,
  ToolExecutionStatus,
  type TypedFrame,
  typed,
} from './frames.ts';
import { routes } from './routes.ts';
import { answerOf, OUTCOMES, progressContent, requestContent, toolUse } from './tool-frames.ts';

export const extension = defineDialect<State>({
  name: 'extension',
  projection: { start, step, attach },
  open,
  routes,
});

// In

function open(socket: Socket, ctx: DialectContext, hub: SubscriptionHub<State>): Connection {
  const { engine, authenticator, log } = ctx;
  const clientId = stampedId('socket', ctx.now(), socket.id);
  let { principal } = socket;
  let registered = false;
  /** over the token of the registration */
  let endGuard = (): void => undefined;
  /** what is under way in the session it was opened with has been shown */
  let shown = false;
  /** the session of messages that name none */
  let latest = SessionId.safeParse(socket.session).data;

  const message = (content: Content): Body => stamped(content, ctx.now(), ctx.newId());
  const reply = (content: Content): void => socket.send(message(content));

  const opened = async () =>
    principal && socket.session !== null ? engine.find(principal, socket.session) : null;

  /** Nothing is sent on connect: what is under way is shown after registration. */
  async function watchOpened(): Promise<void> {
    const ref = await opened();
    if (ref) await hub.join(ref, socket, NOTHING);
  }

  /** Once: popups show a question as often as it is sent. */
  async function showOpened(): Promise<void> {
    const ref = shown ? null : await opened();
    if (!ref) return;
    shown = true;
    if (hub.has(ref, socket)) await hub.show(ref, socket);
    else await hub.join(ref, socket);
  }

  /** Nothing of what another principal was shown or was leased is carried over. */
  function become(claimed: Principal): void {
    if (principal?.id !== claimed.id) {
      hub.leave(socket);
      shown = false;
      engine.clients.unregister(socket.id);
      latest = SessionId.safeParse(socket.session).data;
    }
    principal = claimed;
  }

  async function register(frame: object): Promise<void> {
    const { capabilities, sessionToken } = read(ClientRegistration, frame);
    const claimed = sessionToken ? await authenticator.verify(sessionToken) : principal;
    if (!claimed) throw new Fault('unauthenticated', 'A token is required.');
    become(claimed);
    registered = true;
    // A socket that closed meanwhile was unregistered already, and must not be asked for anything.
    if (!socket.open) return;
    if (sessionToken) {
      endGuard();
      endGuard = authenticator.onTokenRevoked(sessionToken, dismiss);
    }
    engine.clients.register({
      connection: socket.id,
      owner: claimed.id,
      capabilities,
      request: (execution, request) => reply(requestContent(execution, request, ctx.toolOrigins)),
    });
    reply(confirmation(clientId, claimed));
    await showOpened();
  }

  /** What is still to be read of the socket is nobody's. */
  function dismiss(reason: string): void {
    registered = false;
    principal = null;
    socket.close(1008, reason);
  }

  function ping(frame: object): void {
    const { id, timestamp } = read(Ping, frame);
    const pong = message({ type: 'pong', originalTimestamp: timestamp ?? undefined });
    socket.send({ ...pong, id: id ?? pong.id });
  }

  /** What a registered client sends commands as. */
  function caller() {
    if (!registered || !principal)
      throw new Fault('forbidden', 'Client not registered. Please register first.');
    return { principal, dialect: 'extension', via: socket.id };
  }

  async function chat(frame: object, arrivedAt: number): Promise<void> {
    const as = caller();
    const { content, sessionId } = read(ChatMessage, frame);
    if (content.trim() === '') throw new Fault('empty', 'content: must not be empty');
    const name = sessionId ?? latest ?? stampedId('session', ctx.now(), ctx.newId());
    const ref = await engine.resolve(as.principal, name);
    latest = ref.id;
    // The message may be the answer to the question. If it is not, it queues, and the question is shown then.
    await hub.join(ref, socket, isThinking);
    if (await sendChat(engine, { ref, text: content, arrivedAt }, as)) await hub.show(ref, socket);
  }

  async function clear(frame: object): Promise<void> {
    const as = caller();
    const { sessionId = latest } = read(ClearConversation, frame);
    if (sessionId === undefined) throw new Fault('invalid', 'sessionId: is required');
    const ref = await engine.find(as.principal, sessionId);
    if (!ref) return reply({ type: 'conversation_cleared', sessionId, success: true });
    await hub.join(ref, socket);
    await engine.send(ref, { type: 'session.clear' }, as);
  }

  function answer(frame: object): void {
    const response = read(ToolExecutionResponse, frame);
    const known = engine.clients.answer(socket.id, response.executionId, answerOf(response));
    if (!known) ignored('tool_execution_response', response.executionId);
  }

  function progress(frame: object): void {
    const { executionId, status, progress, statusMessage } = read(ToolExecutionStatus, frame);
    const told = { status, progress: progress ?? undefined, message: statusMessage ?? undefined };
    if (!engine.clients.progress(socket.id, executionId, told)) ignored('tool_execution_status', executionId);
  }

  const ignored = (type: string, execution: string): void =>
    log.warn(
      { type, execution: execution.slice(0, 100), connection: socket.id },
      'no such execution is open at this client',
    );

  const unknown = (type: string): void =>
    reply({ type: 'error', message: `Unknown message type: ${type}`, code: 'UNKNOWN_MESSAGE_TYPE' });

  function perform(frame: TypedFrame, arrivedAt: number): void | Promise<void> {
    if (!isKnown(frame)) return unknown(frame.type);
    switch (frame.type) {
      case 'client_registration':
        return register(frame);
      case 'ping':
        return ping(frame);
      case 'chat_message':
        return chat(frame, arrivedAt);
      case 'clear_conversation':
        return clear(frame);
      case 'tool_execution_response':
        return answer(frame);
      case 'tool_execution_status':
        return progress(frame);
    }
  }

  return {
    opened: watchOpened,
    async receive(frame, arrivedAt) {
      try {
        await perform(typed(frame), arrivedAt);
      } catch (thrown) {
        reply(refusal(frame, reported(thrown, ctx, socketIds(socket))));
      }
    },
    onInvalidFrame: (reason) =>
      reply({
        type: 'error',
        message: `The message could not be read: ${reason}`,
        code: 'INVALID_JSON',
        details: reason,
      }),
    onRateLimited: (fault) => reply(refusal(undefined, fault)),
    identified: () => principal,
    closed() {
      endGuard();
      engine.clients.unregister(socket.id);
      hub.leave(socket);
    },
    draining: () => reply({ type: 'server_shutdown', message: 'The server is shutting down.' }),
  };
}

// Out

type State = {
  /** when the last event was */
  readonly at: number;
  readonly calls: Calls;
  /** the text of the last step: an answer if the turn ends, a thought if calls follow */
  readonly text: string | null;
  readonly reasoning: readonly string[];
  readonly toolsUsed: readonly ToolUse[];
  /** the outcome of the last call: the answer of a turn without text */
  readonly result: string;
};

const REST = { calls: NO_CALLS, text: null, reasoning: [], toolsUsed: [], result: '' };

function start(now: SessionSnapshot): State {
  return { ...REST, at: now.created?.at ?? 0 };
}

function step(before: State, event: SessionEvent): Stepped<State, Body> {
  if (event.type === 'text.delta' || event.type === 'reasoning.delta') return [before, NONE];
  const state = isDurable(event)
    ? { ...before, at: event.at, calls: trackCalls(before.calls, event) }
    : before;
  const sessionId = event.session;
  const say = (...contents: Content[]): Frame<Body>[] =>
    contents.map((content, n) => ({ body: stamped(content, event.at, nthId(event.id, n)) }));
  const tell = (status: Status, message?: string, currentTool?: string) =>
    say(statusContent(sessionId, status, message, currentTool));
  /** The turn is over, and there is no answer. */
  const fail = (cause: string, details: string) =>
    say(statusContent(sessionId, 'error', cause), {
      type: 'error',
      message: `Chat processing failed: ${cause}`,
      code: 'HANDLER_ERROR',
      details,
      sessionId,
    });
  const toolOf = (call: string): string => before.calls[call]?.tool ?? 'unknown';
  switch (event.type) {
    case 'turn.started':
      return [{ ...state, ...REST }, tell('thinking')];
    case 'turn.resumed':
      return [{ ...state, text: null }, tell('thinking')];
    case 'step.restarted': {
      const words = restartWords(event);
      return [{ ...state, text: null }, words === null ? NONE : tell('thinking', words)];
    }
    case 'reasoning.ended':
      return [event.text === '' ? state : { ...state, reasoning: [...state.reasoning, event.text] }, NONE];
    case 'text.ended':
      if (event.interrupted) return [state, NONE];
      return [{ ...state, text: state.text === null ? event.text : `${state.text}\n\n${event.text}` }, NONE];
    case 'call.requested':
      return [{ ...state, text: null }, state.text ? tell('thinking', state.text) : NONE];
    case 'approval.requested':
      return [state, say(...question(sessionId, event.ask, toolOf(event.call)))];
    case 'approval.explained':
      return [state, tell('using_tool', event.text)];
    case 'tool.started': {
      const tool = toolOf(event.call);
      return [state, tell(tool === 'web_search' ? 'searching' : 'using_tool', undefined, tool)];
    }
    case 'tool.ended': {
      const use = toolUse(before.calls[event.call], event);
      const toolsUsed = use ? [...state.toolsUsed, use] : state.toolsUsed;
      const after = { ...state, toolsUsed, result: textOf(event.parts) };
      if (event.outcome === 'aborted') return [after, NONE];
      return [after, tell('analyzing', OUTCOMES[event.outcome](toolOf(event.call)))];
    }
    case 'agent.changed':
      return [state, tell('thinking', `${event.from.name} hands over to ${event.to.name}: ${event.reason}`)];
    case 'turn.ended': {
      const { text, result, toolsUsed } = state;
      const reasoning = state.reasoning.length > 0 ? state.reasoning.join('\n\n') : undefined;
      const content = text ?? result;
      return [
        { ...state, ...REST },
        say(statusContent(sessionId, 'complete'), {
          type: 'agent_response',
          content,
          reasoning,
          sessionId,
          toolsUsed,
        }),
      ];
    }
    case 'turn.failed':
      return [{ ...state, ...REST }, fail(event.fault.message, event.fault.code)];
    case 'turn.cancelled':
      return [{ ...state, ...REST }, fail(CANCELLED[event.reason], event.reason)];
    case 'session.erased':
    case 'session.cleared':
      return [state, say({ type: 'conversation_cleared', sessionId, success: true })];
    case 'call.progress':
      return [state, say(progressContent(event))];
    case 'session.created':
    case 'input.accepted':
    case 'approval.answered':
    case 'step.ended':
    case 'session.renamed':
    case 'session.archived':
    case 'session.labelled':
    case 'session.rewound':
    case 'session.configured':
    case 'call.deferred':
    case 'grant.revoked':
    case 'context.compacted':
      return [state, NONE];
  }
}

function attach({ at }: State, { approval, turn, ref, seq }: SessionSnapshot): Body[] {
  if (!turn) return [];
  const shown = approval
    ? question(ref.id, approval.ask, approval.tool)
    : [statusContent(ref.id, 'thinking')];
  // A reminder is a message of its own: it has another id each time that something has happened since.
  return shown.map((content, n) => stamped(content, at, nthId(turn, 2 * seq + n)));
}

const isThinking = (body: object): boolean => 'status' in body && body.status === 'thinking';

/** A response as well: popups render no `using_tool`, and keep their input disabled until a response comes. */
const question = (sessionId: string, ask: Ask, tool: string): Content[] => [
  statusContent(sessionId, 'using_tool', waitingWords(ask), tool),
  { type: 'agent_response', content: questionWords(ask), sessionId, toolsUsed: [] },
];

// Faults

const CANCELLED = {
  cancelled: 'The turn was cancelled.',
  superseded: 'The turn was superseded by a newer message.',
  denied: 'The turn was ended by a denial.',
};

type Answered = { message: string; code: ErrorCode; details?: string };

const malformed = (details: string): Answered => ({
  message: `Invalid message: ${details}`,
  code: 'INVALID_MESSAGE',
  details,
});
const refused = (message: string): Answered => ({ message, code: 'HANDLER_ERROR' });

const FAULTS = {
  invalid: malformed,
  empty: malformed,
  too_large: malformed,
  too_slow: refused,
  unauthenticated: refused,
  forbidden: refused,
  not_found: refused,
  no_turn: refused,
  no_approval: refused,
  tool_invalid: refused,
  tool_failed: refused,
  busy: refused,
  nothing_to_compact: refused,
  cancelled: refused,
  too_many_steps: refused,
  provider_unavailable: refused,
  provider_limited: refused,
  provider_rejected: refused,
  context_too_long: refused,
  answer_too_long: refused,
  limited: refused,
  overloaded: refused,
  shutting_down: refused,
  storage_unavailable: refused,
  internal: refused,
} satisfies Record<FaultCode, (message: string) => Answered>;

/** What the sender of a frame is told. */
function refusal(frame: unknown, fault: Fault): Content {
  const answered = {
    ...FAULTS[fault.code](retryWords(fault)),
    ...(fault.retryAfterMs === undefined ? {} : { retryAfter: fault.retryAfterMs }),
  };
  const { type, sessionId } = isObject(frame) ? frame : {};
  if (type === 'client_registration')
    return { type: 'error', ...answered, message: 'Registration failed', details: retryWords(fault) };
  return { type: 'error', ...answered, sessionId: SessionId.safeParse(sessionId).data };
}
