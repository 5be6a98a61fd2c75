/**
 * `mcp`: Parlance as a server of the Model Context Protocol, revisions 2025-03-26, 2025-06-18, 2025-11-25 and
 * 2026-07-28. Sessions are used through tools, and read as resources. Nothing that a client needs to reconnect
 * is only in memory: the agreed version is in its session id, and the turn that a call follows in the ids and
 * states that the client sends back. Prompts, completions, logging, sampling and tasks are not supported.
 */

import { Fault, isObject, type Principal } from '@parlance/protocol';
import type { Hono, Context as HonoContext } from 'hono';
import { requirePermission } from '../../core/index.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { principalOf } from '../../http/request-identity.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { parseBody } from '../kit/json-body.ts';
import {
  errorMessage,
  idOf,
  messageOf,
  RequestId,
  RpcFault,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcResponse,
  resultMessage,
} from '../kit/json-rpc.ts';
import { setRetryAfter } from '../kit/retry.ts';
import { approvalIn } from './approval-form.ts';
import { callStream } from './call-stream.ts';
import { callTool, isLongCall, runCancellable } from './call-tool.ts';
import { ClientSessions } from './client-sessions.ts';
import { type Context, Settings } from './context.ts';
import { CODES, errorOf, refusal, statusOf } from './faults.ts';
import { decodeState } from './follow-state.ts';
import { followTurn } from './follow-turn.ts';
import { type Request as Method, type RequestSource, resultOf } from './methods.ts';
import { listening, sessionNotifications } from './notifications.ts';
import { OpenCalls } from './open-calls.ts';
import { OpenForms } from './open-forms.ts';
import { OtherNodes } from './other-nodes.ts';
import { agreedVersion, hasForms, MODERN, peerOf, sessionIdOf } from './peer.ts';
import { projection } from './projection.ts';
import { answerApproval } from './tools/continued.ts';

// In: Streamable HTTP, all revisions at one path.

const PATH = '/mcp';

function routes(app: Hono, ctx: Context): void {
  app.post(PATH, (c) =>
    answered(ctx, c, async (principal, parsed) => {
      const body = await bodyOf(ctx, c.req.raw);
      if (Array.isArray(body)) return answerBatch(ctx, { principal, request: c.req.raw }, body);
      parsed.id = idOf(body);
      return answerMessage(ctx, { principal, request: c.req.raw }, body);
    }),
  );

  app.get(PATH, (c) =>
    answered(ctx, c, async (principal) => {
      const { headers } = c.req.raw;
      if (isModern(headers)) return postOnly(c);
      const { session } = peerOf(headers, {});
      if (!headers.get('accept')?.includes('text/event-stream'))
        return c.json(
          errorMessage(null, { code: CODES.refused, message: 'GET needs Accept: text/event-stream.' }),
          406,
        );
      requirePermission(principal, 'chat:read');
      const resume = await resumed(ctx, principal, c.req.raw);
      if (resume) return resume;
      const produce = sessionNotifications(ctx, principal, session);
      return ctx.stream(c.req.raw, { dialect: 'mcp', encode: JSON.stringify, produce });
    }),
  );

  app.delete(PATH, (c) =>
    answered(ctx, c, async (principal) => {
      if (isModern(c.req.raw.headers)) return postOnly(c);
      const session = c.req.header('mcp-session-id');
      if (session) {
        ctx.sessions.end(principal.id, session);
        ctx.otherNodes.notify({ type: 'ended', principal: principal.id, session });
      }
      return c.body(null, 204);
    }),
  );
}

const isModern = (headers: Headers): boolean => headers.get('mcp-protocol-version') === MODERN;

/** Since 2026-07-28 clients have no sessions, and subscribe with a request. */
function postOnly(c: HonoContext): Response {
  c.header('Allow', 'POST');
  return c.json(errorMessage(null, { code: CODES.refused, message: `${MODERN} has POST only.` }), 405);
}

/** The part of a failed request that could be read. */
type ParsedRequest = { id: RpcId };

type Work = (principal: Principal, parsed: ParsedRequest) => Promise<Response>;

async function answered(ctx: Context, c: HonoContext, work: Work): Promise<Response> {
  const parsed: ParsedRequest = { id: null };
  try {
    ctx.countRequest(c.req.raw);
    return await work(await principalOf(ctx.authenticator, c.req.raw), parsed);
  } catch (thrown) {
    const fault = reported(thrown, ctx, requestIds(c.req.raw));
    if (fault.code === 'unauthenticated') c.header('WWW-Authenticate', 'Bearer');
    setRetryAfter(c, fault);
    return c.json(errorMessage(parsed.id, errorOf(fault)), statusOf(fault));
  }
}

async function bodyOf({ readBody }: Context, request: Request): Promise<unknown> {
  const parsed = parseBody(await readBody(request, 'identified'));
  if ('problem' in parsed) throw new RpcFault(CODES.parse, `The body ${parsed.problem}.`);
  return parsed.value;
}

// Messages that a client POSTs.

type PostRequest = { readonly principal: Principal; readonly request: Request };

const MAX_BATCH_SIZE = 50;

type Message =
  | ({ readonly kind: 'request' } & Method)
  | Extract<RpcMessage, { kind: 'notification' | 'response' }>;

/** Throws if it is not a message. Ids of requests are not null in this protocol, and results are objects. */
function read(body: unknown): Message {
  const message = messageOf(body);
  if (message.kind === 'notification') return message;
  if (message.kind === 'response' && (message.result === undefined || isObject(message.result)))
    return message;
  if (message.kind === 'request' && message.id !== null) return { ...message, id: message.id };
  const reason = message.kind === 'invalid' ? `: ${message.reason}` : '';
  throw new RpcFault(CODES.request, `Not a JSON-RPC message${reason}.`);
}

/** Throws a `Fault` if the request is refused as a whole. */
async function answerMessage(ctx: Context, posted: PostRequest, body: unknown): Promise<Response> {
  const { principal, request } = posted;
  const message = read(body);
  const from: RequestSource = {
    principal,
    peer: peerOf(request.headers, message.kind === 'response' ? {} : message),
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
async function answerBatch(ctx: Context, posted: PostRequest, bodies: readonly unknown[]): Promise<Response> {
  const { principal, request } = posted;
  if (bodies.length === 0 || bodies.length > MAX_BATCH_SIZE)
    throw new RpcFault(CODES.request, `A batch has 1 to ${MAX_BATCH_SIZE} messages.`);
  const messages = bodies.map((body): Message => {
    const message = read(body);
    if (message.kind === 'request' && message.method === 'initialize')
      throw new RpcFault(CODES.request, 'initialize is not valid in a batch.');
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
  if (message.kind === 'response') await takeAnswer(ctx, from, message);
  else takeNotification(ctx, from, message);
  return null;
}

function takeNotification(
  { otherNodes }: Context,
  { principal, peer: { session } }: RequestSource,
  { method, params }: RpcNotification,
): void {
  const request = RequestId.safeParse(params.requestId);
  // Request ids are unique only within a session: without one, a call cannot be cancelled by its id.
  if (method === 'notifications/cancelled' && request.success && session !== null)
    otherNodes.cancel({ type: 'cancel', principal: principal.id, session, request: request.data });
}

/** The answer to a form. A late or unrelated answer is ignored. */
async function takeAnswer(
  ctx: Context,
  { principal }: RequestSource,
  { id, result }: RpcResponse,
): Promise<void> {
  const { forms, otherNodes, log } = ctx;
  const outcome = result === undefined ? 'refused' : 'answered';
  // Before the answer: otherwise the node that shows the form would withdraw it.
  otherNodes.notify({ type: 'form', principal: principal.id, id: String(id ?? ''), outcome });
  if (isObject(result)) {
    try {
      await answerApproval(ctx, principal, { approval: approvalIn(id), response: result });
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      log.debug({ reason: thrown.message }, 'form answer refused');
    }
  }
  forms.settle(principal.id, String(id ?? ''), outcome);
}

// Resumes an interrupted stream after `Last-Event-ID`: the turn has continued in the meantime.

/** Null if the request does not resume the stream of a call. */
async function resumed(ctx: Context, principal: Principal, request: Request): Promise<Response | null> {
  const last = request.headers.get('last-event-id');
  const decoded = last ? await decodeState(ctx.engine, principal, last) : null;
  if (!decoded?.resumable) return null;
  const { followed, resumable } = decoded;
  const peer = peerOf(request.headers, {});
  const key = { principal: principal.id, session: peer.session, request: resumable.request };
  // Clients do not retry after this status.
  if (ctx.calls.isCancelled(key))
    return Response.json(refusal(405, 'The call was cancelled.'), { status: 405 });
  return callStream(ctx, request, {
    key,
    run: ({ stream, gone }) => {
      const call = {
        principal,
        peer,
        stream,
        id: resumable.request,
        progressToken: resumable.progress,
        until: Math.min(resumable.until, ctx.now() + ctx.settings.toolCallWithin),
        requestState: undefined,
        inputResponses: {},
      };
      return runCancellable(ctx, { call, gone }, (one) => followTurn(ctx, one, followed));
    },
  });
}

export const mcp = defineDialect({
  name: 'mcp',
  listen: [{ http: PATH }],
  settings: Settings,
  inbound(given) {
    const known = { sessions: new ClientSessions(), calls: new OpenCalls(), forms: new OpenForms() };
    const ctx = { ...given, ...known, otherNodes: new OtherNodes(given.engine?.transport ?? null, known) };
    return { routes: (app) => routes(app, ctx) };
  },
  projection,
  faults: { refusal },
  describe: async () => (await import('./describe.ts')).description,
});
