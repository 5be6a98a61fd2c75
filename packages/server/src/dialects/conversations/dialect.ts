/**
 * `conversations`: multi-agent chat applications with logins. Every socket needs a token; one without is accepted and
 * closed with 1008. A socket sees the conversations that it starts, sends to or names by `?session=`, and those that
 * closed sockets of its user left unfinished. The contract has no frames for what other people write, for progress of a call
 * and for compaction: these are not told. A standing "always" cannot be said: an approval counts once.
 */
import {
  type CommandInput,
  Fault,
  type FaultCode,
  isObject,
  LOCAL,
  type Principal,
  textPart,
} from '@parlance/protocol';
import { requirePermission, type SessionRef } from '../../core/api/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { type DialectContext, defineDialect, reported } from '../shared/dialect.ts';
import { retryField, retryWords } from '../shared/retry.ts';
import { NOTHING, type SubscriptionHub } from '../shared/subscription-hub.ts';
import { type Body, type ErrorCode, errorBody } from './bodies.ts';
import { Inheritance } from './inheritance.ts';
import { projection, type State } from './projection.ts';
import {
  ApproveTool,
  CancelStream,
  directCall,
  isKnown,
  read,
  SendMessage,
  StartConversation,
} from './requests.ts';
import { routes } from './routes.ts';
import { REJECTED } from './tool-outcome.ts';

export const conversations = defineDialect<State>({
  name: 'conversations',
  projection,
  open,
  resume: (ctx, hub) => Inheritance.of(hub, ctx).resume(),
  routes,
});

// In

function open(socket: Socket, ctx: DialectContext, hub: SubscriptionHub<State>): Connection {
  const { principal } = socket;
  // `local` is whoever came without a token; this contract has no such callers.
  if (!principal || principal.id === LOCAL.id) return refused(socket);
  return spoken(socket, principal, ctx, hub);
}

const refused = (socket: Socket): Connection => ({
  opened: () => socket.close(1008, 'A token is required.'),
  receive: () => undefined,
  onInvalidFrame: () => undefined,
  closed: () => undefined,
  draining: () => undefined,
});

function spoken(
  socket: Socket,
  principal: Principal,
  ctx: DialectContext,
  hub: SubscriptionHub<State>,
): Connection {
  const { engine } = ctx;
  const inheritance = Inheritance.of(hub, ctx);
  /** the session that a message is on its way to */
  let writing: SessionRef | null = null;
  const caller = { principal, dialect: 'conversations', via: socket.id };
  const say = (body: Body) => socket.sendFrame(body);
  const complain = (thrown: unknown, conversationId?: string) => {
    const fault = reported(thrown, ctx, { connection: socket.id, session: conversationId });
    say(errorBody(FAULTS[fault.code], retryWords(fault), conversationId, retryField('retryAfter', fault)));
  };

  async function take(frame: Record<string, unknown>): Promise<void> {
    const { type } = frame;
    if (typeof type !== 'string') throw new Fault('invalid', 'type is required');
    if (!isKnown(type)) throw new Fault('invalid', `Unknown event type: ${type.slice(0, 100)}`);
    switch (type) {
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
    }
  }

  async function startConversation(frame: Record<string, unknown>): Promise<void> {
    const { payload } = read(StartConversation, frame, 'domainId is required');
    const domain = payload.domainId;
    const ref = await engine.resolve(principal, ctx.newId());
    await engine.send(ref, { type: 'session.create', domain }, caller);
    await hub.subscribe(ref, socket, { shown: NOTHING });
    const { defaultAgent } = engine.catalog.domain(domain);
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
    const parts = [textPart(payload.content)];
    await write(ref, { type: 'input.submit', parts, call, mode: 'supersede' });
  }

  /**
   * Joined first: nothing of what follows is missed, by this socket or, if it closes, by the one that inherits it. A
   * command that was refused leaves the socket where it was.
   */
  async function write(ref: SessionRef, command: CommandInput): Promise<void> {
    const before = hub.isSubscribed(ref, socket);
    writing = ref;
    try {
      await attend(ref);
      await engine.send(ref, command, caller);
    } catch (thrown) {
      if (!before) hub.unsubscribe(ref, socket);
      throw thrown;
    } finally {
      writing = null;
    }
  }

  async function attend(ref: SessionRef): Promise<void> {
    await hub.subscribe(ref, socket, { shown: NOTHING });
    if (!socket.open) await inheritance.orphans.keep(ref, principal.id);
  }

  /** A client may invent the id of a new conversation, in this form only. */
  const addressed = (id: string): Promise<SessionRef | null> =>
    id.startsWith('temp-') ? engine.resolve(principal, id) : engine.find(principal, id);

  async function cancelStream(frame: Record<string, unknown>): Promise<void> {
    const { conversationId } = read(CancelStream, frame, 'conversationId is required');
    const ref = await engine.find(principal, conversationId);
    if (!ref) throw new Fault('not_found', 'No active stream');
    await worded(write(ref, { type: 'turn.cancel' }), { no_turn: 'No active stream' });
  }

  async function approveTool(frame: Record<string, unknown>): Promise<void> {
    const { requestId: approval, payload } = read(
      ApproveTool,
      frame,
      'requestId and payload.approved are required',
    );
    const { approved, reason } = payload;
    requirePermission(principal, approved ? 'tool:approve' : 'tool:reject');
    const ref = await engine.lookup(principal, { kind: 'approval', id: approval });
    if (!ref) throw new Fault('not_found', 'Unknown requestId');
    const answer = approved
      ? ({ type: 'approval.answer', approval, answer: 'once' } as const)
      : ({ type: 'approval.answer', approval, answer: 'deny', reason: reason || undefined } as const);
    await worded(write(ref, answer), {
      not_found: 'Unknown requestId',
      no_approval: 'The tool request was answered already',
    });
    if (!approved) say(errorBody('rejected', REJECTED, ref.id));
  }

  return {
    async opened() {
      try {
        const named = socket.session === null ? null : await engine.find(principal, socket.session);
        await inheritance.take({ socket, principal }, named);
        if (named) await hub.subscribe(named, socket);
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
    onInvalidFrame: (reason) => complain(new Fault('invalid', `Invalid message: ${reason}`)),
    onRateLimited: (fault) => complain(fault),
    closed: (unsent) => inheritance.orphans.left({ socket, principal }, unsent as Body[], writing),
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
  limited: 'bad_request',
  overloaded: 'stream_error',
  shutting_down: 'stream_error',
  storage_unavailable: 'stream_error',
  internal: 'stream_error',
} satisfies Record<FaultCode, ErrorCode>;
