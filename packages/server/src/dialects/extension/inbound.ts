/** In: converts the frames of one socket to commands. */
import { Fault, isObject, type Principal, SessionId } from '@parlance/protocol';
import type { z } from 'zod';
import type { ClientAnswer, SessionRef, ToolClient } from '../../core/index.ts';
import type { Connection, Socket } from '../../http/connection.ts';
import { sendChat } from '../kit/chat-input.ts';
import { reported, socketIds } from '../kit/dialect.ts';
import { stampedId } from '../kit/projection.ts';
import { NOTHING, type SubscriptionHub } from '../kit/subscription-hub.ts';
import {
  type Body,
  ChatMessage,
  ClearConversation,
  ClientRegistration,
  type Content,
  Ping,
  ToolExecutionResponse,
  ToolExecutionStatus,
} from './contract.ts';
import { DEVICE, type LostTurns } from './lost-turns.ts';
import { confirmation, refusal, requestContent, type State, stamped } from './outbound.ts';
import type { ExtensionContext } from './routes.ts';

export function open(
  socket: Socket,
  ctx: ExtensionContext & { readonly lost: LostTurns },
  hub: SubscriptionHub<State>,
): Connection {
  const { engine, authenticator, log, lost } = ctx;
  const clientId = stampedId('socket', ctx.now(), socket.id);
  let { principal } = socket;
  let registered = false;
  /** ends the watch over the token of the registration */
  let endGuard = (): void => undefined;
  /** the running turn of the session it was opened with has been shown */
  let shown = false;
  /** identifies the client across reconnects */
  let device: string | null = null;
  /** the session of messages without a session id */
  let latest = SessionId.safeParse(socket.session).data;

  const message = (content: Content): Body => stamped(content, ctx.now(), ctx.newId());
  const reply = (content: Content): void => socket.sendFrame(message(content));

  const opened = async () =>
    principal && socket.session !== null ? engine.find(principal, socket.session) : null;

  /** Sends nothing on connect: a running turn is shown after registration. */
  async function watchOpened(): Promise<void> {
    const ref = await opened();
    if (ref) await hub.subscribe(ref, socket, { shown: NOTHING });
  }

  /** Runs once: popups would show a question again each time it is sent. */
  async function showOpened(): Promise<void> {
    const ref = shown ? null : await opened();
    if (!ref) return;
    shown = true;
    if (hub.isSubscribed(ref, socket)) await hub.show(ref, socket);
    else await hub.subscribe(ref, socket);
  }

  /** Drops subscriptions, leases and sessions of the previous principal. */
  function switchTo(claimed: Principal): void {
    if (principal?.id !== claimed.id) {
      hub.leave(socket);
      shown = false;
      engine.clients.unregister(socket.id);
      latest = SessionId.safeParse(socket.session).data;
    }
    principal = claimed;
  }

  async function register(frame: object): Promise<void> {
    const { capabilities, sessionToken, metadata } = read(ClientRegistration, frame);
    const claimed = sessionToken
      ? await authenticator.verify(sessionToken, { origin: socket.origin })
      : principal;
    if (!claimed) throw new Fault('unauthenticated', 'A token is required.');
    switchTo(claimed);
    registered = true;
    device = deviceOf(metadata);
    // A socket that closed in the meantime is already unregistered, and must not receive tool requests.
    if (!socket.open) return;
    if (sessionToken) {
      endGuard();
      endGuard = authenticator.onTokenRevoked(sessionToken, dismiss, claimed);
    }
    engine.clients.register({
      connection: socket.id,
      owner: claimed.id,
      offer: offerOf(capabilities),
      executionId: ({ at, id }) => stampedId('exec', at, id),
      request: (execution, request) =>
        reply(requestContent(execution, request, ctx.settings.allowedToolOrigins)),
    });
    reply(confirmation(clientId, claimed));
    await showOpened();
    await inherit(claimed);
  }

  /** Continues what an earlier socket of the device has left unfinished. */
  async function inherit(user: Principal): Promise<void> {
    if (device === null) return;
    for (const ref of await lost.of(user, device)) {
      latest ??= ref.id;
      await hub.subscribe(ref, socket, { cursor: lost.take(ref, { user: user.id, device, socket }) });
    }
  }

  /** A session is found by its device after a restart. */
  async function labelled(ref: SessionRef, as: ReturnType<typeof caller>): Promise<void> {
    if (device === null) return;
    const { created, labels } = await engine.snapshot(ref);
    if (labels[DEVICE] === device) return;
    const type = created ? 'session.label' : 'session.create';
    await engine.send(ref, { type, labels: { [DEVICE]: device } }, as);
  }

  /** Frames that are still queued must not be handled for the user. */
  function dismiss(reason: string): void {
    registered = false;
    principal = null;
    socket.close(1008, reason);
  }

  function ping(frame: object): void {
    const { id, timestamp } = read(Ping, frame);
    const pong = message({ type: 'pong', originalTimestamp: timestamp ?? undefined });
    socket.sendFrame({ ...pong, id: id ?? pong.id });
  }

  /** The caller for commands; throws `forbidden` if the client is not registered. */
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
    // The message may answer the pending approval. If it does not, it is queued, and the approval is shown
    // again.
    await labelled(ref, as);
    const cursor = lost.take(ref, { user: as.principal.id, device, socket });
    await hub.subscribe(ref, socket, { shown: isThinking, cursor });
    if (await sendChat(engine, { ref, text: content, arrivedAt }, as)) await hub.show(ref, socket);
  }

  async function clear(frame: object): Promise<void> {
    const as = caller();
    const { sessionId = latest } = read(ClearConversation, frame);
    if (sessionId === undefined) throw new Fault('invalid', 'sessionId: is required');
    const ref = await engine.find(as.principal, sessionId);
    if (!ref) return reply({ type: 'conversation_cleared', sessionId, success: true });
    await hub.subscribe(ref, socket);
    await engine.send(ref, { type: 'session.clear' }, as);
  }

  function answer(frame: object): void {
    const response = read(ToolExecutionResponse, frame);
    const known = engine.clients.answer(socket.id, response.executionId, answerOf(response));
    if (!known) ignored('tool_execution_response', response.executionId);
  }

  function progress(frame: object): void {
    const { executionId, status, progress, statusMessage } = read(ToolExecutionStatus, frame);
    const update = { status, progress: progress ?? undefined, message: statusMessage ?? undefined };
    if (!engine.clients.progress(socket.id, executionId, update))
      ignored('tool_execution_status', executionId);
  }

  const ignored = (type: string, execution: string): void =>
    log.warn(
      { type, execution: execution.slice(0, 100), connection: socket.id },
      'ignored a message about an unknown tool execution',
    );

  const unknown = (type: string): void =>
    reply({ type: 'error', message: `Unknown message type: ${type}`, code: 'UNKNOWN_MESSAGE_TYPE' });

  function perform(frame: TypedFrame, arrivedAt: number): void | Promise<void> {
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
      default:
        return unknown(frame.type);
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
      if (registered && principal) lost.left(socket, principal.id, device);
      hub.leave(socket);
    },
    draining: () => reply({ type: 'server_shutdown', message: 'The server is shutting down.' }),
  };
}

const MAX_DEVICE_LENGTH = 200;

/** Null if the client does not name its device. */
function deviceOf(metadata: unknown): string | null {
  const id = isObject(metadata) ? metadata.deviceId : undefined;
  return typeof id === 'string' && id !== '' && id.length <= MAX_DEVICE_LENGTH ? id : null;
}

const isThinking = (body: object): boolean => 'status' in body && body.status === 'thinking';

/** Named tools and `all_tools` are offered; `browser_api_access` is a fallback for tools that no client names. */
const offerOf = (capabilities: readonly string[]): ToolClient['offer'] => ({
  tools: capabilities.includes('all_tools') ? 'all' : capabilities,
  fallback: capabilities.includes('browser_api_access'),
});

function answerOf({ success, result, error }: z.output<typeof ToolExecutionResponse>): ClientAnswer {
  if (success) return { ok: true, result: result ?? null };
  return {
    ok: false,
    kind: error?.type ?? 'unknown',
    message: error?.message ?? 'The client gave no reason.',
    recoverable: error?.recoverable ?? false,
    retryAfterMs: error?.retryAfter ?? undefined,
  };
}

const TYPE_LENGTH = 100;

type TypedFrame = { readonly type: string };

/** Throws `invalid` if a frame has no valid type. */
function typed(frame: unknown): TypedFrame {
  if (!isObject(frame)) throw new Fault('invalid', 'message: must be a JSON object');
  const { type } = frame;
  if (typeof type !== 'string') throw new Fault('invalid', 'type: must be a string');
  if (type.length >= TYPE_LENGTH)
    throw new Fault('invalid', `type: must be shorter than ${TYPE_LENGTH} characters`);
  return { ...frame, type };
}

/** Throws `invalid` with the name of the field first. */
function read<Schema extends z.ZodType>(schema: Schema, frame: object): z.output<Schema> {
  const parsed = schema.safeParse(frame);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Fault('invalid', `${issue?.path.join('.') || 'message'}: ${issue?.message}`);
}
