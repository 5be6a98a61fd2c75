/**
 * `mcp`: Parlance as a server of the Model Context Protocol, revisions 2025-03-26, 2025-06-18, 2025-11-25 and
 * 2026-07-28. Sessions are used through tools, and read as resources. Nothing that a client needs to reconnect
 * is only in memory: the agreed version is in its session id, and the turn that a call follows in the ids and
 * states that the client sends back. The operator's tools, prompts and resources are offered beside them. Tasks are not supported.
 *
 * The protocol is in `dialect.ts` (methods over Streamable HTTP), `contract.ts`, `tools.ts` and `outbound.ts`. Beside it: `follow-turn.ts` answers
 * a call with the outcome of a turn, `resources.ts` reads sessions, `custom.ts` offers what the operator's modules have, `clients.ts` remembers
 * what clients have open.
 */

import type { DiscoverResult, InitializeResult } from '@modelcontextprotocol/client';
import { Fault, isObject, type JsonObject, type Principal } from '@parlance/protocol';
import type { Context as HonoContext } from 'hono';
import { z } from 'zod';
import { requirePermission } from '../../core/index.ts';
import type { EventStream } from '../../http/connection.ts';
import { mayStaySilent } from '../../http/idle-connections.ts';
import { defineDialect, reported, requestIds } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import { HTTP_STATUS } from '../kit/faults.ts';
import {
  anyBody,
  errorMessage,
  invalidParams,
  messageOf,
  methodNamed,
  type Params,
  RequestId,
  RpcFault,
  type RpcMessage,
  type RpcRequest,
  type RpcResponse,
  rememberId,
  resultMessage,
  rpcRest,
} from '../kit/json-rpc.ts';
import {
  agreedVersion,
  type CallKey,
  Clients,
  type Context,
  peerOf,
  Settings,
  sessionIdOf,
} from './clients.ts';
import {
  CODES,
  description,
  errorOf,
  examples,
  META,
  Message as MessageBody,
  MODERN,
  PATH,
  RequestHeaders,
  RequestQuery,
  refusal,
  type schemas,
} from './contract.ts';
import {
  attachCall,
  type CustomCaller,
  checkNeeds,
  complete,
  customResourceAt,
  customTemplates,
  getPrompt,
  isLevel,
  listPrompts,
} from './custom.ts';
import { answerForm, decodeState, followTurn, formIn, questionIn } from './follow-turn.ts';
import { encodeMark, encodeMessage, listening, OPEN, projection, sessionNotifications } from './outbound.ts';
import { listResources, readResource, resourceNamed, TEMPLATE } from './resources.ts';
import { type CallSource, callTool, isLongCall, listTools, runCancellable, SERVER_CLOSES } from './tools.ts';

const endpoint = endpointOf<Context, ReturnType<typeof schemas>>();

const STREAM = { type: 'text/event-stream', text: 'JSON-RPC messages; the result is the last' } as const;

const post = endpoint({
  method: 'post',
  path: PATH,
  summary: 'A JSON-RPC message, or several: the methods of MCP',
  headers: RequestHeaders,
  query: RequestQuery,
  body: MessageBody,
  parsed: anyBody,
  examples,
  answers: {
    200: [
      {
        description: 'The answer, whole or as server-sent events',
        schema: 'McpAnswer',
        headers: { 'mcp-session-id': 'set by `initialize`' },
      },
      { description: '', ...STREAM },
    ],
    202: { description: 'A notification or response was accepted' },
  },
  errors: [400, 401, 403, 404, 413, 429, 503],
  handle({ c, request, principal, body, query: { agent } }, ctx) {
    const caller = { principal, agent };
    if (Array.isArray(body)) return answerBatch(ctx, request, caller, body);
    rememberId(c, body);
    return answerMessage(ctx, request, caller, body);
  },
});

const get = endpoint({
  method: 'get',
  path: PATH,
  summary:
    'Notifications about resources, before 2026-07-28; with Last-Event-ID the rest of an interrupted stream',
  headers: RequestHeaders.extend({
    'last-event-id': z.string().optional().describe('the event to resume after'),
  }),
  answers: { 200: { description: 'Server-sent events', ...STREAM } },
  errors: [400, 401, 403, 404, 405, 406, 429],
  async handle({ c, request, principal, headers }, ctx) {
    if (headers['mcp-protocol-version'] === MODERN) return postOnly(c);
    const { session } = peerOf(request.headers, {});
    if (ctx.clients.hasEnded(principal.id, session)) return ended();
    if (!acceptsStream(request))
      return c.json(
        errorMessage(null, { code: CODES.refused, message: 'GET needs Accept: text/event-stream.' }),
        406,
      );
    requirePermission(principal, 'chat:read');
    const resume = await resumed(ctx, principal, request);
    if (resume) return resume;
    const produce = sessionNotifications(ctx, principal, session);
    return ctx.stream(request, { dialect: 'mcp', encode: JSON.stringify, produce });
  },
});

const remove = endpoint({
  method: 'delete',
  path: PATH,
  summary: 'Ends the session of a client, before 2026-07-28; the conversations stay',
  headers: RequestHeaders,
  answers: { 204: { description: 'Ended' } },
  errors: [401, 403, 405, 429],
  handle({ c, principal, headers }, { clients }) {
    if (headers['mcp-protocol-version'] === MODERN) return postOnly(c);
    const session = headers['mcp-session-id'];
    if (session) clients.tell({ type: 'ended', principal: principal.id, session });
  },
});

const endpoints = [post, get, remove];

/** Since 2026-07-28 clients have no sessions, and subscribe with a request. */
function postOnly(c: HonoContext): Response {
  c.header('Allow', 'POST');
  return c.json(errorMessage(null, { code: CODES.refused, message: `${MODERN} has POST only.` }), 405);
}

const acceptsStream = ({ headers }: Request): boolean =>
  headers.get('accept')?.includes('text/event-stream') === true;

// Messages that a client POSTs.

/** The caller and its client. */
type Source = CustomCaller;

type Caller = Pick<CustomCaller, 'principal' | 'agent'>;

/** Ids of requests are not null in this protocol. */
type MethodRequest = RpcRequest & { readonly id: RequestId };

type Message =
  | ({ readonly kind: 'request' } & MethodRequest)
  | Extract<RpcMessage, { kind: 'notification' | 'response' }>;

/** Throws if it is not a message. Results are objects in this protocol. */
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
async function answerMessage(
  ctx: Context,
  request: Request,
  { principal, agent }: Caller,
  body: unknown,
): Promise<Response> {
  const message = read(body);
  const peer = peerOf(request.headers, message.kind === 'response' ? {} : message);
  const from: Source = { principal, peer, agent };
  if (ctx.clients.hasEnded(principal.id, peer.session))
    return ended(message.kind === 'request' ? message.id : null);
  if (message.kind !== 'request') {
    await take(ctx, from, message);
    return new Response(null, { status: 202 });
  }
  const { id, method, params } = message;
  if (method === 'subscriptions/listen' && peer.era === 'modern') {
    const produce = listening(ctx, principal, id, params);
    return ctx.stream(request, { dialect: 'mcp', encode: JSON.stringify, produce });
  }
  if (method === 'tools/call') checkNeeds(ctx, from, params);
  if (isLongCall(ctx, from, method, params) && acceptsStream(request)) {
    const key = { principal: principal.id, session: peer.session, request: id };
    return callStream(ctx, request, key, (call) => resultOf(ctx, { ...from, ...call }, message));
  }
  const answer = await whole(ctx, request, from, message);
  const response = Response.json(answer, { status: peer.era === 'modern' ? statusOf(answer) : 200 });
  if (method === 'initialize') response.headers.set('mcp-session-id', startSession(ctx, principal, params));
  return response;
}

/** The client must begin a new session. */
const ended = (id: RequestId | null = null): Response =>
  Response.json(errorMessage(id, { code: CODES.refused, message: 'The session has ended.' }), {
    status: 404,
  });

/** Since 2026-07-28, methods that do not exist have a status of their own. */
const statusOf = (answer: object): number =>
  'error' in answer && isObject(answer.error) && answer.error.code === CODES.method ? 404 : 200;

const MAX_BATCH_SIZE = 50;

/** Several messages at once, as in 2025-03-26. */
async function answerBatch(
  ctx: Context,
  request: Request,
  { principal, agent }: Caller,
  bodies: readonly unknown[],
): Promise<Response> {
  if (bodies.length === 0 || bodies.length > MAX_BATCH_SIZE)
    throw new RpcFault(CODES.request, `A batch has 1 to ${MAX_BATCH_SIZE} messages.`);
  const messages = bodies.map((body): Message => {
    const message = read(body);
    if (message.kind === 'request' && message.method === 'initialize')
      throw new RpcFault(CODES.request, 'initialize is not valid in a batch.');
    return message;
  });
  const from: Source = { principal, agent, peer: peerOf(request.headers, {}) };
  if (ctx.clients.hasEnded(principal.id, from.peer.session)) return ended();
  // The request itself has been counted.
  for (let count = 1; count < messages.length; count++) ctx.countRequest(request);
  const answers = messages.map((message) =>
    message.kind === 'request' ? whole(ctx, request, from, message) : take(ctx, from, message),
  );
  const answered = (await Promise.all(answers)).filter((answer) => answer !== null);
  return answered.length === 0 ? new Response(null, { status: 202 }) : Response.json(answered);
}

/** The response to a request as one message. */
async function whole(ctx: Context, request: Request, from: Source, message: MethodRequest): Promise<object> {
  try {
    if (message.method === 'tools/call') mayStaySilent(request);
    const source = { ...from, stream: null, gone: request.signal };
    return resultMessage(message.id, await resultOf(ctx, source, message));
  } catch (thrown) {
    return errorMessage(message.id, errorOf(reported(thrown, ctx, requestIds(request))));
  }
}

function startSession({ clients, newId }: Context, { id: principal }: Principal, params: Params): string {
  const capabilities = isObject(params.capabilities) ? params.capabilities : {};
  const agreed = { version: agreedVersion(params.protocolVersion), capabilities };
  const session = sessionIdOf(agreed, newId());
  clients.tell({ type: 'begun', principal, session });
  return session;
}

/** Handles messages without a response. */
async function take(
  ctx: Context,
  { principal, peer: { session } }: Source,
  message: Exclude<Message, { kind: 'request' }>,
): Promise<null> {
  if (message.kind === 'response') {
    await takeAnswer(ctx, principal, message);
    return null;
  }
  const request = RequestId.safeParse(message.params.requestId);
  // Request ids are unique only within a session: without one, a call cannot be cancelled by its id.
  if (message.method === 'notifications/cancelled' && request.success && session !== null)
    ctx.clients.cancelCall({ principal: principal.id, session, request: request.data });
  return null;
}

/** The answer to a form. A late or unrelated answer is ignored. */
async function takeAnswer(ctx: Context, principal: Principal, { id, result }: RpcResponse): Promise<void> {
  const question = questionIn(id);
  if (question !== null) {
    const given = isObject(result) ? (result as JsonObject) : undefined;
    ctx.clients.tell({ type: 'replied', principal: principal.id, id: question, result: given });
    return;
  }
  const outcome = result === undefined ? 'refused' : 'answered';
  // Before the answer: otherwise the call that shows the form would withdraw it.
  ctx.clients.tell({ type: 'form', principal: principal.id, id: String(id ?? ''), outcome });
  if (result === undefined) return;
  try {
    await answerForm(ctx, principal, formIn(id), result);
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    ctx.log.debug({ reason: thrown.message }, 'form answer refused');
  }
}

// The response to a call as a stream: messages, then the result.

type RunCall = (call: Pick<CallSource, 'stream' | 'gone'>) => Promise<object>;

function callStream(ctx: Context, request: Request, key: CallKey, run: RunCall): Response {
  const produce = producer(ctx, key, run, requestIds(request));
  return ctx.stream(request, { dialect: 'mcp', encode: JSON.stringify, produce });
}

/** Created outside of the handler: a closure there would keep the request in memory until the stream ends. */
const producer =
  (ctx: Context, key: CallKey, run: RunCall, ids: ReturnType<typeof requestIds>) =>
  async (stream: EventStream): Promise<void> => {
    stream.send(OPEN);
    const gone = new AbortController();
    void left(stream).then(() => gone.abort());
    stream.onClosing(() => gone.abort(SERVER_CLOSES));
    let isResumable = false;
    const messages = {
      send: (message: object) => void stream.send(encodeMessage(message)),
      prime: (mark: string) => {
        isResumable = stream.send(encodeMark(mark));
      },
      ready: () => stream.ready(),
    };
    const send = async (answer: object): Promise<void> => {
      if (ctx.clients.isCancelled(key)) return;
      // Without an answer, the client resumes the stream, and gets the result of the turn.
      if (isResumable && gone.signal.reason === SERVER_CLOSES) return;
      await stream.ready();
      stream.send(encodeMessage(answer));
    };
    // Not in a variable: an answer can be large, and its reader slow.
    await run({ stream: messages, gone: gone.signal }).then(
      (result) => send(resultMessage(key.request, result)),
      (thrown) => send(errorMessage(key.request, errorOf(reported(thrown, ctx, ids)))),
    );
    await stream.ready();
  };

/**
 * Resolves when the reader has disconnected. Messages that a slow reader missed are lost; the result is still
 * sent.
 */
async function left(stream: EventStream): Promise<void> {
  while (await stream.lost()) await stream.ready();
}

/**
 * Resumes an interrupted stream after `Last-Event-ID`: the turn has continued in the meantime. Null if the request does not
 * resume the stream of a call.
 */
async function resumed(ctx: Context, principal: Principal, request: Request): Promise<Response | null> {
  const last = request.headers.get('last-event-id');
  const decoded = last ? await decodeState(ctx.engine, principal, last) : null;
  if (!decoded?.resumable) return null;
  const { followed, resumable } = decoded;
  const { request: id, progress: progressToken } = resumable;
  const peer = peerOf(request.headers, {});
  const key = { principal: principal.id, session: peer.session, request: id };
  // Clients do not retry after this status.
  if (ctx.clients.isCancelled(key))
    return Response.json(refusal(405, 'The call was cancelled.'), { status: 405 });
  return callStream(ctx, request, key, ({ stream, gone }) => {
    const until = Math.min(resumable.until, ctx.now() + ctx.settings.toolCallWithin);
    const call = { principal, peer, stream, id, progressToken, until };
    const isCustom = ctx.engine.clients.peerOf(followed.ref) !== null;
    if (isCustom) attachCall(ctx, followed, { stream, progressToken });
    return runCancellable(ctx, call, gone, (one) =>
      followTurn(
        ctx,
        isCustom ? { ...one, progressToken: undefined } : one,
        followed,
        isCustom ? 'call' : 'turn',
      ),
    );
  });
}

// The methods

type Method = (ctx: Context, from: Source, params: Params) => object | Promise<object>;

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

const INSTRUCTIONS =
  'Parlance runs agents in durable sessions. Start or continue one with send_message. Tool calls of an agent may need the approval of the user: the status is then `waiting`.';

const serverInfo = ({ about }: Context) => ({ name: 'parlance', title: 'Parlance', version: about.version });

const COMMON: Readonly<Record<string, Method>> = {
  'tools/list': listTools,
  'resources/list': listResources,
  'resources/templates/list': (ctx) => ({ resourceTemplates: [...customTemplates(ctx), TEMPLATE] }),
  'resources/read': readResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': (ctx, _from, params) => complete(ctx, params),
};

const LEGACY_METHODS: Readonly<Record<string, Method>> = {
  initialize: (ctx, _from, { protocolVersion }): InitializeResult => ({
    protocolVersion: agreedVersion(protocolVersion),
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(ctx),
    instructions: INSTRUCTIONS,
  }),
  ping: () => ({}),
  'logging/setLevel': ({ clients }, { principal, peer: { session } }, { level }) => {
    if (!isLevel(level)) throw invalidParams('level must be one of the levels of syslog.');
    if (session !== null) clients.tell({ type: 'level', principal: principal.id, session, level });
    return {};
  },
  'resources/subscribe': async (ctx, from, { uri }) => {
    const { principal, peer } = from;
    const { session } = peer;
    const { clients } = ctx;
    requirePermission(principal, 'chat:read');
    if (!customResourceAt(ctx, uri)) await resourceNamed(ctx.engine, from, uri);
    if (session === null) throw new RpcFault(CODES.request, 'Subscriptions need the header Mcp-Session-Id.');
    clients.subscribe({ principal: principal.id, session }, String(uri));
    return {};
  },
  'resources/unsubscribe': ({ clients }, { principal, peer: { session } }, { uri }) => {
    if (session !== null)
      clients.tell({ type: 'unsubscribed', principal: principal.id, session, uri: String(uri) });
    return {};
  },
};

const MODERN_METHODS: Readonly<Record<string, Method>> = {
  'server/discover': (ctx): DiscoverResult => ({
    supportedVersions: [MODERN],
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    _meta: { [META.serverInfo]: serverInfo(ctx) },
  }),
};

const DAY_MS = 86_400_000;

/** How long clients may cache results; sessions change at any time. */
const KEPT_MS: Readonly<Record<string, number>> = {
  'server/discover': DAY_MS,
  'tools/list': 0,
  'prompts/list': 0,
  'resources/templates/list': DAY_MS,
  'resources/list': 0,
  'resources/read': 0,
};

/** Throws a `Fault` if there is no such method or tool. */
async function resultOf(ctx: Context, from: CallSource, request: MethodRequest): Promise<object> {
  const { method, params } = request;
  const isModern = from.peer.era === 'modern';
  const run: Method | undefined =
    method === 'tools/call'
      ? () => callTool(ctx, from, request)
      : (methodNamed(COMMON, method) ?? methodNamed(isModern ? MODERN_METHODS : LEGACY_METHODS, method));
  if (!run) throw new RpcFault(CODES.method, `Method not found: ${method}`);
  const result = await run(ctx, from, params);
  if (!isModern || 'resultType' in result) return result;
  const ttlMs = KEPT_MS[method];
  return { ...result, resultType: 'complete', ...(ttlMs !== undefined && { ttlMs, cacheScope: 'private' }) };
}

export const mcp = defineDialect({
  name: 'mcp',
  listen: [{ http: PATH }],
  settings: Settings,
  inbound: (ctx) => {
    const clients = new Clients(ctx.engine?.transport ?? null);
    const stop = ctx.custom?.onChange((change) => clients.tell({ type: 'changed', change }));
    return { rest: { ...ctx, clients }, close: () => stop?.() };
  },
  rest: { ...rpcRest(errorOf, ({ code }) => HTTP_STATUS[code]), endpoints },
  projection,
  faults: { refusal },
  describe: async () => description(),
});
