/** Messages that a client POSTs. */
import { Fault, isObject, type Principal } from '@parlance/protocol';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { reported, requestIds } from '../shared/dialect.ts';
import { approvalIn } from './approval-form.ts';
import { callStream } from './call-stream.ts';
import { callTool, isLongCall } from './call-tool.ts';
import type { Context } from './context.ts';
import { errorOf, ProtocolFault } from './faults.ts';
import {
  type Answer,
  errorMessage,
  type Message,
  type Request as Method,
  messageOf,
  type Notification,
  RequestId,
  resultMessage,
} from './json-rpc.ts';
import { type RequestSource, resultOf } from './methods.ts';
import { listening } from './notifications.ts';
import { agreedVersion, hasForms, peerOf, sessionIdOf } from './peer.ts';
import { answerApproval } from './tools/continued.ts';

export type PostRequest = { readonly principal: Principal; readonly request: Request };

const MAX_BATCH_SIZE = 50;

/** Throws a `Fault` if the request is refused as a whole. */
export async function answerMessage(ctx: Context, posted: PostRequest, body: unknown): Promise<Response> {
  const { principal, request } = posted;
  const message = messageOf(body);
  if (!message) throw new ProtocolFault('request', 'The body is not a JSON-RPC message.');
  const from: RequestSource = {
    principal,
    peer: peerOf(request.headers, message.kind === 'answer' ? {} : message),
  };
  if (message.kind !== 'request') {
    await take(ctx, from, message);
    return new Response(null, { status: 202 });
  }
  const { peer } = from;
  if (message.method === 'subscriptions/listen' && peer.era === 'modern') {
    const produce = listening(ctx, principal, message);
    return ctx.stream(request, { dialect: 'mcp', encode: JSON.stringify, produce });
  }
  if (isLongCall(message) && request.headers.get('accept')?.includes('text/event-stream'))
    return callStream(ctx, request, {
      key: { principal: principal.id, session: peer.session, request: message.id },
      run: (answering) => callTool(ctx, from, { request: message, ...answering }),
    });
  const response = Response.json(await whole(ctx, posted, { from, message }));
  if (message.method === 'initialize')
    response.headers.set('mcp-session-id', startSession(ctx, principal, message));
  return response;
}

/** Several messages at once, as in 2025-03-26. */
export async function answerBatch(
  ctx: Context,
  posted: PostRequest,
  bodies: readonly unknown[],
): Promise<Response> {
  const { principal, request } = posted;
  if (bodies.length === 0 || bodies.length > MAX_BATCH_SIZE)
    throw new ProtocolFault('request', `A batch has 1 to ${MAX_BATCH_SIZE} messages.`);
  const messages = bodies.map((body): Message => {
    const message = messageOf(body);
    if (!message || (message.kind === 'request' && message.method === 'initialize'))
      throw new ProtocolFault('request', 'The batch has a message that is not valid in one.');
    return message;
  });
  const from: RequestSource = { principal, peer: peerOf(request.headers, {}) };
  // The request itself has been counted.
  for (let count = 1; count < messages.length; count++) ctx.countRequest(request);
  const answers = messages.map((message) =>
    message.kind === 'request' ? whole(ctx, posted, { from, message }) : take(ctx, from, message),
  );
  const answered = (await Promise.all(answers)).filter((answer) => answer !== null);
  return answered.length === 0 ? new Response(null, { status: 202 }) : Response.json(answered);
}

/** The response to a request as one message. */
async function whole(
  ctx: Context,
  { request }: PostRequest,
  { from, message }: { readonly from: RequestSource; readonly message: Method },
): Promise<object> {
  try {
    if (message.method !== 'tools/call') return resultMessage(message.id, await resultOf(ctx, from, message));
    mayStaySilent(request);
    const answering = { request: message, stream: null, gone: request.signal };
    return resultMessage(message.id, await callTool(ctx, from, answering));
  } catch (thrown) {
    return errorMessage(message.id, errorOf(reported(thrown, ctx, requestIds(request))));
  }
}

function startSession(
  { sessions, otherNodes, newId }: Context,
  principal: Principal,
  { params }: Method,
): string {
  const capabilities = isObject(params.capabilities) ? params.capabilities : {};
  const agreed = { version: agreedVersion(params.protocolVersion), hasForms: hasForms(capabilities) };
  const session = sessionIdOf(agreed, newId());
  sessions.begin(principal.id, session);
  otherNodes.notify({ type: 'begun', principal: principal.id, session });
  return session;
}

/** Handles messages without a response. */
async function take(
  ctx: Context,
  from: RequestSource,
  message: Exclude<Message, { kind: 'request' }>,
): Promise<null> {
  if (message.kind === 'answer') await takeAnswer(ctx, from, message);
  else takeNotification(ctx, from, message);
  return null;
}

function takeNotification(
  { otherNodes }: Context,
  { principal, peer: { session } }: RequestSource,
  { method, params }: Notification,
): void {
  const request = RequestId.safeParse(params.requestId);
  // Request ids are unique only within a session: without one, a call cannot be cancelled by its id.
  if (method === 'notifications/cancelled' && request.success && session !== null)
    otherNodes.cancel({ type: 'cancel', principal: principal.id, session, request: request.data });
}

/** The answer to a form. A late or unrelated answer is ignored. */
async function takeAnswer(ctx: Context, { principal }: RequestSource, { id, result }: Answer): Promise<void> {
  const { forms, otherNodes, log } = ctx;
  const outcome = result === null ? 'refused' : 'answered';
  // Before the answer: otherwise the node that shows the form would withdraw it.
  otherNodes.notify({ type: 'form', principal: principal.id, id: String(id), outcome });
  if (result !== null) {
    try {
      await answerApproval(ctx, principal, { approval: approvalIn(id), response: result });
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      log.debug({ reason: thrown.message }, 'form answer refused');
    }
  }
  forms.settle(principal.id, String(id), outcome);
}
