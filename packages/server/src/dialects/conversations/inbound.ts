/** In: converts the frames of one socket to commands. */
import {
  type CommandInput,
  DirectCall,
  Fault,
  isObject,
  jsonNestsDeeper,
  LOCAL,
  type Principal,
  parsedJson,
  textPart,
} from '@parlance/protocol';
import type { z } from 'zod';
import { requirePermission, type SessionRef } from '../../core/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { type DialectContext, reported } from '../kit/dialect.ts';
import { NOTHING, type SubscriptionHub } from '../kit/subscription-hub.ts';
import { ApproveTool, type Body, CancelStream, isKnown, SendMessage, StartConversation } from './contract.ts';
import { newPeer } from './detached-streams.ts';
import { errorBody, faultBody, REJECTED, type State, withMessages } from './outbound.ts';
import type { StreamResume } from './resume.ts';

type Context = Pick<DialectContext, 'engine' | 'log' | 'newId' | 'now'> & {
  readonly resume: StreamResume;
};

export function open(socket: Socket, ctx: Context, hub: SubscriptionHub<State>): Connection {
  const { principal } = socket;
  // `local` is a caller without a token, which this contract does not allow.
  if (!principal || principal.id === LOCAL.id) return refused(socket);
  return connectionOf({ socket, principal }, ctx, hub);
}

const refused = (socket: Socket): Connection => ({
  opened: () => socket.close(1008, 'A token is required.'),
  receive: () => undefined,
  onInvalidFrame: () => undefined,
  closed: () => undefined,
  draining: () => undefined,
});

function connectionOf(
  { socket, principal }: { readonly socket: Socket; readonly principal: Principal },
  ctx: Context,
  hub: SubscriptionHub<State>,
): Connection {
  const { engine, resume } = ctx;
  const peer = newPeer(socket, principal, ctx.now());
  /** Settles when everything that is sent after the socket has closed is kept. */
  let left: Promise<void> | null = null;
  /** the session that a message is being sent to */
  let writing: SessionRef | null = null;
  const caller = { principal, dialect: 'conversations', via: socket.id };
  const send = (body: Body) => socket.sendFrame(body);
  const sendFault = (thrown: unknown, conversationId?: string) => {
    const fault = reported(thrown, ctx, { connection: socket.id, session: conversationId });
    send(faultBody(fault, conversationId));
  };

  async function perform(frame: Record<string, unknown>): Promise<void> {
    const { type } = frame;
    if (typeof type !== 'string') throw new Fault('invalid', 'type is required');
    if (!isKnown(type)) throw new Fault('invalid', `Unknown event type: ${type.slice(0, 100)}`);
    switch (type) {
      case 'PING':
        return send({ type: 'PONG' });
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
    resume.started(peer, ref);
    const { defaultAgent } = engine.catalog.domain(domain);
    send({
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
    await write(ref, { type: 'input.submit', parts, call, mode: 'supersede', answers: !call });
  }

  /**
   * Subscribes before sending the command, so that no event is missed by this socket or, if it closes, by its
   * successor. A refused command does not change the subscriptions.
   */
  async function write(ref: SessionRef, command: CommandInput): Promise<void> {
    writing = ref;
    try {
      await resume.named(peer, ref);
      const before = hub.isSubscribed(ref, socket);
      await hub.subscribe(ref, socket, { shown: NOTHING });
      await left;
      await engine.send(ref, command, caller).catch((thrown) => {
        if (!before) hub.unsubscribe(ref, socket);
        throw thrown;
      });
    } finally {
      writing = null;
    }
  }

  /** A client may choose the id of a new conversation only in this form. */
  const addressed = (id: string): Promise<SessionRef | null> =>
    id.startsWith('temp-') ? engine.resolve(principal, id) : engine.find(principal, id);

  async function cancelStream(frame: Record<string, unknown>): Promise<void> {
    const { conversationId } = read(CancelStream, frame, 'conversationId is required');
    const ref = await engine.find(principal, conversationId);
    if (!ref) throw new Fault('not_found', 'No active stream');
    await withMessages(write(ref, { type: 'turn.cancel' }), { no_turn: 'No active stream' });
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
    await withMessages(write(ref, answer), {
      not_found: 'Unknown requestId',
      no_approval: 'The tool request was answered already',
    });
    if (!approved) send(errorBody('rejected', REJECTED, { conversationId: ref.id }));
  }

  return {
    async opened() {
      try {
        const named = socket.session === null ? null : await engine.find(principal, socket.session);
        await resume.opened(peer, named);
        if (named) await hub.subscribe(named, socket);
      } catch (thrown) {
        sendFault(thrown);
      }
    },
    async receive(frame) {
      try {
        if (!isObject(frame)) throw new Fault('invalid', 'A message must be a JSON object');
        await perform(frame);
      } catch (thrown) {
        const id = isObject(frame) ? frame.conversationId : undefined;
        sendFault(thrown, typeof id === 'string' ? id : undefined);
      }
    },
    onInvalidFrame: (reason) => sendFault(new Fault('invalid', `Invalid message: ${reason}`)),
    onRateLimited: (fault) => sendFault(fault),
    closed(unsent, code) {
      left = resume.closed(peer, { unsent: unsent as Body[], writing, code });
      left.catch((thrown) => reported(thrown, ctx, { connection: socket.id }));
    },
    // The contract has no frame for it. An `error` would end a stream that continues after the reconnect.
    draining: () => undefined,
  };
}

/** Throws `invalid` with this message. */
function read<Schema extends z.ZodType>(
  schema: Schema,
  frame: Record<string, unknown>,
  otherwise: string,
): z.output<Schema> {
  const parsed = schema.safeParse(frame);
  if (!parsed.success) throw new Fault('invalid', otherwise);
  return parsed.data;
}

/** `/tool <id> <JSON object>`; undefined if the message is something else. Throws `tool_invalid`. */
function directCall(content: string): DirectCall | undefined {
  if (!/^\/tool(?:\s|$)/.test(content)) return undefined;
  const [, tool, input] = /^\/tool\s+(\S+)\s+(\{[\s\S]*\})$/.exec(content) ?? [];
  if (!tool || !input) throw new Fault('tool_invalid', 'Call a tool with /tool <id> <JSON object>');
  if (jsonNestsDeeper(input, MAX_LEVELS))
    throw new Fault('tool_invalid', 'The parameters are nested too deeply');
  const parameters = parsedJson(input);
  if (parameters === undefined) throw new Fault('tool_invalid', 'The parameters are not valid JSON');
  const parsed = DirectCall.safeParse({ tool, input: parameters });
  if (!parsed.success) throw new Fault('tool_invalid', `The parameters of ${tool} are not a JSON object`);
  return parsed.data;
}

const MAX_LEVELS = 100;
