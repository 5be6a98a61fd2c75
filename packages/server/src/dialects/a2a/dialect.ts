/**
 * `a2a`: clients of the Agent2Agent protocol 1.0 with its bindings JSON-RPC and HTTP+JSON, and of 0.3 with JSON-RPC. A context is a
 * session and a task is a turn, of this or any other dialect. A disconnect does not end a task: the client subscribes to it again,
 * or cancels it, or has its updates sent to an address. gRPC is not supported.
 *
 * The protocol is in `dialect.ts` (agent card and bindings), `contract.ts`, `inbound.ts` (methods) and `outbound.ts`. Beside it: `tasks.ts` finds, reads and
 * follows tasks, `push.ts` sends push notifications, `v03.ts` translates version 0.3.
 */

import { isObject } from '@parlance/protocol';
import { z } from 'zod';
import { tagged } from '../../http/conditional.ts';
import { defineDialect } from '../kit/dialect.ts';
import { endpointOf } from '../kit/endpoint.ts';
import {
  anyBody,
  errorMessage,
  messageOf,
  methodNamed,
  type RpcRequest as RpcCall,
  RpcFault,
  type RpcId,
  rememberId,
  resultText,
  rpcRest,
} from '../kit/json-rpc.ts';
import {
  CARD_PATH,
  CODES,
  description,
  examples,
  HttpGetQuery,
  HttpListQuery,
  HttpPushRequest,
  HttpSendRequest,
  httpExamples,
  httpFailure,
  isRpc,
  PROTOCOL_VERSION,
  RequestHeaders,
  RPC_PATH,
  RpcRequest,
  refusal,
  rpcError,
  type schemas,
  statusOf,
} from './contract.ts';
import { type Call, METHODS, type Method, refusedMethod, type StreamEncoding } from './inbound.ts';
import { projection } from './outbound.ts';
import { PushNotifications, Settings } from './push.ts';
import type { Context } from './tasks.ts';
import { legacyFrame, legacyMethod } from './v03.ts';

const endpoint = endpointOf<Context, ReturnType<typeof schemas>>();

const card = endpoint({
  method: 'get',
  path: CARD_PATH,
  summary: 'The agent card',
  security: 'nobody',
  limited: false,
  headers: RequestHeaders,
  answers: {
    200: { description: 'The card', schema: 'A2aAgentCard' },
    304: { description: 'The card has not changed' },
  },
  handle({ request, headers }, { about, cards, engine, now, publicOriginOf, push }) {
    const { agents, domains } = engine.catalog.listed;
    const url = `${publicOriginOf(request)}${RPC_PATH}`;
    // Clients of 0.3 do not name a version.
    const isLegacy = !headers['a2a-version']?.trim().startsWith('1');
    const text = JSON.stringify({
      name: 'Parlance',
      description: 'An agent server: it answers, uses tools and requests approval if needed.',
      version: about.version,
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: PROTOCOL_VERSION },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: PROTOCOL_VERSION },
        { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: push !== null, extendedAgentCard: false },
      ...(about.auth === 'required' && {
        securitySchemes: {
          bearer: {
            httpAuthSecurityScheme: { scheme: 'Bearer', description: 'A token or an API key of this server' },
            ...(isLegacy && { type: 'http', scheme: 'bearer' }),
          },
        },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        ...(isLegacy && { security: [{ bearer: [] }] }),
      }),
      ...(isLegacy && { url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }),
      defaultInputModes: [
        'text/plain',
        'application/json',
        'image/png',
        'image/jpeg',
        'image/webp',
        'image/gif',
      ],
      defaultOutputModes: ['text/plain'],
      skills: agents.map(({ id, name, description }) => {
        const tags = domains.filter((domain) => domain.agents.includes(id)).map((domain) => domain.id);
        return { id, name, description, tags };
      }),
    });
    return tagged(request, text, {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=60',
      'last-modified': new Date(cards.changedAt(text, now())).toUTCString(),
      vary: 'Host, A2A-Version',
    });
  },
});

/** When the cards last changed: one for each address under which they are requested. */
class CardTimes {
  readonly #times = new Map<string, number>();

  changedAt(card: string, now: number): number {
    const known = this.#times.get(card);
    if (known !== undefined) return known;
    if (this.#times.size >= MAX_CARDS) this.#times.clear();
    this.#times.set(card, now);
    return now;
  }
}

const MAX_CARDS = 16;

// JSON-RPC

const rpc = endpoint({
  method: 'post',
  path: RPC_PATH,
  summary:
    'JSON-RPC: SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask, push notification configurations, and the methods of version 0.3',
  headers: RequestHeaders,
  body: RpcRequest,
  parsed: anyBody,
  examples,
  allow: ({ request }) => checkContentType(request),
  answers: {
    200: [
      { description: 'The result or an error, or a stream of results', schema: 'A2aResponse' },
      {
        description: '',
        type: 'text/event-stream',
        text: 'JSON-RPC responses with `task`, `artifactUpdate` or `statusUpdate`',
      },
    ],
    204: { description: 'A notification was handled' },
  },
  errors: [401, 403, 408, 413, 429, 503],
  async handle({ c, request, principal, headers, body }, ctx) {
    rememberId(c, body);
    const { id, method, params, isNotification } = read(body);
    const legacy = legacyMethod(method);
    checkVersion(headers['a2a-version'], legacy !== null);
    const name = legacy?.method ?? method;
    const run = methodNamed(METHODS, name);
    if (!run) throw refusedMethod(name);
    const encoding: StreamEncoding = {
      frame: (frame, text) => rpcEvent(id, legacy ? JSON.stringify(legacyFrame(frame)) : text),
      failure: (fault) => `data: ${JSON.stringify(errorMessage(id, rpcError(fault)))}\n\n`,
    };
    const call = { request, principal, encoding, version: legacy ? '0.3' : '1.0' } as const;
    const result = await run(ctx, call, legacy ? legacy.paramsOf(params) : params);
    if (isNotification) {
      if (result instanceof Response) await result.body?.cancel();
      return c.body(null, 204);
    }
    if (result instanceof Response) return result;
    return new Response(resultText(id, JSON.stringify(legacy ? legacy.resultOf(result) : result)), {
      headers: { 'content-type': 'application/json' },
    });
  },
});

const rpcEvent = (id: RpcId, text: string): string => `data: ${resultText(id, text)}\n\n`;

function read(body: unknown): RpcCall & { readonly isNotification: boolean } {
  const message = messageOf(body);
  if (message.kind === 'request') return { ...message, isNotification: false };
  if (message.kind === 'notification') return { ...message, id: null, isNotification: true };
  const reason = message.kind === 'invalid' ? `: ${message.reason}` : '';
  throw new RpcFault(CODES.request, `Not a JSON-RPC 2.0 request${reason}.`);
}

const JSON_TYPE = /^application\/(?:json|a2a\+json)\s*(?:;|$)/i;

function checkContentType({ headers }: Request): void {
  const type = headers.get('content-type');
  if (type !== null && !JSON_TYPE.test(type))
    throw new RpcFault(CODES.CONTENT_TYPE_NOT_SUPPORTED, 'The body must be application/json.');
}

/** A client without a version header speaks the version that its method belongs to. */
function checkVersion(version: string | undefined, isLegacy: boolean): void {
  const spoken = isLegacy ? /^0\.3(?:\.\d+)*$/ : /^1(?:\.\d+)*$/;
  if (version && !spoken.test(version.trim()))
    throw new RpcFault(
      CODES.VERSION_NOT_SUPPORTED,
      `The server speaks version ${PROTOCOL_VERSION} of the protocol, and the methods of 0.3.`,
    );
}

// HTTP+JSON

const EVENTS = { type: 'text/event-stream', text: '`task`, `artifactUpdate` or `statusUpdate`' } as const;
const ERRORS = [400, 401, 403, 404, 408, 409, 413, 415, 429, 503] as const;

const httpEncoding: StreamEncoding = {
  frame: (_frame, text) => `data: ${text}\n\n`,
  failure: (fault) => `data: ${JSON.stringify(httpFailure(fault).body)}\n\n`,
};

async function http(
  ctx: Context,
  method: string,
  {
    request,
    principal,
    headers,
  }: Pick<Call, 'principal' | 'request'> & { readonly headers: z.output<typeof RequestHeaders> },
  params: unknown,
): Promise<Response> {
  checkVersion(headers['a2a-version'], false);
  const run: Method<unknown> | undefined = methodNamed(METHODS, method);
  if (!run) throw refusedMethod(method);
  const call = { request, principal, encoding: httpEncoding, version: '1.0' } as const;
  const result = await run(ctx, call, params);
  return result instanceof Response ? result : Response.json(result);
}

const MESSAGE_METHODS = { 'message:send': 'SendMessage', 'message:stream': 'SendStreamingMessage' } as const;

const httpMessage = endpoint({
  method: 'post',
  path: `${RPC_PATH}/{operation}`,
  summary: 'HTTP+JSON: send a message, and wait for its task or follow it',
  params: z.object({ operation: z.enum(['message:send', 'message:stream']) }),
  headers: RequestHeaders,
  body: HttpSendRequest,
  parsed: anyBody,
  examples: httpExamples.message,
  allow: ({ request }) => checkContentType(request),
  answers: {
    200: [
      { description: 'The task, or a stream of it', schema: 'A2aSendResponse' },
      { description: '', ...EVENTS },
    ],
  },
  errors: ERRORS,
  handle: (call, ctx) => http(ctx, MESSAGE_METHODS[call.params.operation], call, call.body),
});

const httpTasks = endpoint({
  method: 'get',
  path: `${RPC_PATH}/tasks`,
  summary: 'HTTP+JSON: list tasks',
  headers: RequestHeaders,
  query: HttpListQuery,
  answers: { 200: { description: 'The tasks', schema: 'A2aTaskPage' } },
  errors: [400, 401, 403, 429, 503],
  handle: (call, ctx) => http(ctx, 'ListTasks', call, call.query),
});

const httpTask = endpoint({
  method: 'get',
  path: `${RPC_PATH}/tasks/{task}`,
  summary: 'HTTP+JSON: a task',
  headers: RequestHeaders,
  query: HttpGetQuery,
  examples: httpExamples.task,
  answers: { 200: { description: 'The task', schema: 'A2aTask' } },
  errors: [400, 401, 403, 404, 429, 503],
  handle: (call, ctx) => http(ctx, 'GetTask', call, { ...call.query, id: call.params.task }),
});

const OPERATION = /^(.+):(cancel|subscribe)$/;
const TASK_METHODS: Readonly<Record<string, string>> = { cancel: 'CancelTask', subscribe: 'SubscribeToTask' };

const httpTaskOperation = endpoint({
  method: 'post',
  path: `${RPC_PATH}/tasks/{task}`,
  summary:
    'HTTP+JSON: `{task}` is an id with `:cancel`, which cancels the task, or `:subscribe`, which follows it',
  headers: RequestHeaders,
  examples: httpExamples.operation,
  answers: {
    200: [
      { description: 'The task, or a stream of it', schema: 'A2aTask' },
      { description: '', ...EVENTS },
    ],
  },
  errors: ERRORS,
  handle(call, ctx) {
    const [, id, operation = ''] = OPERATION.exec(call.params.task) ?? [];
    return http(ctx, TASK_METHODS[operation] ?? operation, call, { id });
  },
});

const CONFIGS = `${RPC_PATH}/tasks/{task}/pushNotificationConfigs` as const;
const PUSH_ERRORS = [400, 401, 403, 404, 429, 503] as const;

const createPush = endpoint({
  headers: RequestHeaders,
  method: 'post',
  path: CONFIGS,
  summary: 'HTTP+JSON: have the updates of a task sent to an address',
  body: HttpPushRequest,
  parsed: anyBody,
  examples: httpExamples.push,
  allow: ({ request }) => checkContentType(request),
  answers: { 200: { description: 'The configuration', schema: 'A2aPushConfig' } },
  errors: ERRORS,
  handle: (call, ctx) =>
    http(ctx, 'CreateTaskPushNotificationConfig', call, {
      ...(isObject(call.body) ? call.body : {}),
      taskId: call.params.task,
    }),
});

const listPush = endpoint({
  headers: RequestHeaders,
  method: 'get',
  path: CONFIGS,
  summary: 'HTTP+JSON: where the updates of a task are sent',
  examples: httpExamples.pushed,
  answers: { 200: { description: 'The configurations', schema: 'A2aPushConfigs' } },
  errors: PUSH_ERRORS,
  handle: (call, ctx) => http(ctx, 'ListTaskPushNotificationConfigs', call, { taskId: call.params.task }),
});

const findPush = endpoint({
  headers: RequestHeaders,
  method: 'get',
  path: `${CONFIGS}/{config}`,
  summary: 'HTTP+JSON: a push notification configuration',
  examples: httpExamples.pushConfig,
  answers: { 200: { description: 'The configuration', schema: 'A2aPushConfig' } },
  errors: PUSH_ERRORS,
  handle: (call, ctx) => http(ctx, 'GetTaskPushNotificationConfig', call, pushName(call.params)),
});

const deletePush = endpoint({
  headers: RequestHeaders,
  method: 'delete',
  path: `${CONFIGS}/{config}`,
  summary: 'HTTP+JSON: send no more updates there',
  examples: httpExamples.pushConfig,
  answers: { 200: { description: 'Deleted, or there was none', schema: 'A2aNothing' } },
  errors: PUSH_ERRORS,
  handle: (call, ctx) => http(ctx, 'DeleteTaskPushNotificationConfig', call, pushName(call.params)),
});

const pushName = ({ task, config }: { readonly task: string; readonly config: string }) => ({
  taskId: task,
  id: config,
});

const endpoints = [
  card,
  rpc,
  httpTasks,
  httpTask,
  httpTaskOperation,
  createPush,
  listPush,
  findPush,
  deletePush,
  httpMessage,
];

const rpcAnswers = rpcRest(rpcError, statusOf);

export const a2a = defineDialect({
  name: 'a2a',
  listen: [{ http: `${RPC_PATH}/*` }, { http: `${RPC_PATH}/`, sameAs: RPC_PATH }, { http: CARD_PATH }],
  settings: Settings,
  inbound: (ctx, hub) => {
    const { pushNotifications } = ctx.settings;
    const push = pushNotifications === 'off' ? null : new PushNotifications(ctx, pushNotifications === 'any');
    return {
      rest: { ...ctx, hub, cards: new CardTimes(), push },
      resume: async () => push?.start(),
      close: () => push?.close(),
    };
  },
  rest: {
    ...rpcAnswers,
    fault(fault, c) {
      if (isRpc(c.req.path)) return rpcAnswers.fault(fault, c);
      const { status, body } = httpFailure(fault);
      return c.json(body, status);
    },
    endpoints,
  },
  projection,
  faults: { refusal },
  describe: async () => description(),
});
