/**
 * A2A 1.0 in the protocol's JSON encoding, which JSON-RPC and HTTP+JSON share: errors, parameters of the methods, objects that the server sends, and what the documents
 * show. The types of the official package are those of decoded objects, which have other names; its reader checks the golden files.
 */
import { type Fault, type FaultCode, JsonValue } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import {
  type Description,
  type Examples,
  errorAnswers,
  named,
  type RequestExample,
} from '../kit/description.ts';
import type { Sent } from '../kit/endpoint.ts';
import { HTTP_STATUS } from '../kit/faults.ts';
import { errorMessage, errorOf, RPC_CODES, type RpcError, RpcFault, RpcId } from '../kit/json-rpc.ts';

/** JSON-RPC; the paths of HTTP+JSON are below. */
export const RPC_PATH = '/a2a';
export const CARD_PATH = '/.well-known/agent-card.json';
export const PROTOCOL_VERSION = '1.0';

// Faults as JSON-RPC errors. Errors about the caller or the server also have an HTTP status.

/** The codes of the protocol; their names are sent as well. */
const NAMED = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32_007,
  VERSION_NOT_SUPPORTED: -32_009,
} as const;

export const CODES = { ...RPC_CODES, ...NAMED } as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(NAMED).map(([name, code]) => [code, name]));

/** Others are internal errors. */
const FAULTS: Partial<Record<FaultCode, number>> = {
  invalid: CODES.params,
  empty: CODES.params,
  tool_invalid: CODES.params,
  not_found: CODES.TASK_NOT_FOUND,
  no_turn: CODES.TASK_NOT_CANCELABLE,
  no_approval: CODES.UNSUPPORTED_OPERATION,
  busy: CODES.UNSUPPORTED_OPERATION,
  nothing_to_compact: CODES.UNSUPPORTED_OPERATION,
  cancelled: CODES.UNSUPPORTED_OPERATION,
  too_large: CODES.refused,
  too_slow: CODES.refused,
  unauthenticated: CODES.refused,
  forbidden: CODES.refused,
  limited: CODES.refused,
  budget_exhausted: CODES.refused,
  overloaded: CODES.refused,
  shutting_down: CODES.refused,
  storage_unavailable: CODES.refused,
};

/** JSON-RPC: protocol errors are sent with HTTP status 200. */
export function statusOf(fault: Fault): ContentfulStatusCode {
  const isRefused = !(fault instanceof RpcFault) && FAULTS[fault.code] === CODES.refused;
  return isRefused ? HTTP_STATUS[fault.code] : 200;
}

/** HTTP+JSON: the statuses of protocol errors. */
const STATUSES: Readonly<Record<number, ContentfulStatusCode>> = {
  [CODES.parse]: 400,
  [CODES.request]: 400,
  [CODES.params]: 400,
  [CODES.method]: 404,
  [CODES.internal]: 500,
  [CODES.TASK_NOT_FOUND]: 404,
  [CODES.TASK_NOT_CANCELABLE]: 409,
  [CODES.PUSH_NOTIFICATION_NOT_SUPPORTED]: 400,
  [CODES.UNSUPPORTED_OPERATION]: 400,
  [CODES.CONTENT_TYPE_NOT_SUPPORTED]: 415,
  [CODES.EXTENDED_AGENT_CARD_NOT_CONFIGURED]: 400,
  [CODES.VERSION_NOT_SUPPORTED]: 400,
};

/** The names that google.rpc has for HTTP statuses. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'FAILED_PRECONDITION',
  413: 'OUT_OF_RANGE',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** HTTP+JSON: the body of an error. */
export const httpError = (status: number, message: string, details?: object) => ({
  error: { code: status, status: STATUS_NAMES[status] ?? 'INTERNAL', message, ...(details && { details }) },
});

/** HTTP+JSON: a fault with its status. */
export function httpFailure(fault: Fault): { readonly status: ContentfulStatusCode; readonly body: object } {
  const { code, message, data } = rpcError(fault);
  const status = (code === CODES.refused ? HTTP_STATUS[fault.code] : STATUSES[code]) ?? 500;
  return { status, body: httpError(status, message, data) };
}

/** Requests to other paths below `/a2a` are those of HTTP+JSON. */
export const isRpc = (path: string): boolean =>
  path === RPC_PATH || path === `${RPC_PATH}/` || path === CARD_PATH;

export function rpcError(fault: Fault): RpcError {
  const error = errorOf(fault, FAULTS, CODES.internal);
  const reason = NAMES.get(error.code);
  if (reason === undefined) return error;
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
  return { ...error, data: [info] };
}

/** The origin is not allowed, the endpoint does not exist, or an error occurred. The address may be without a valid host. */
export const refusal = (status: number, message: string, { url }: Request): object =>
  isRpc(URL.parse(url)?.pathname ?? '')
    ? errorMessage(null, { code: status >= 500 ? CODES.internal : CODES.refused, message })
    : httpError(status, message);

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const ENDED: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
]);

export const hasEnded = (state: TaskState): boolean => ENDED.has(state);

/** A stream and a blocking request end in such a state. */
export const isInterrupted = (state: TaskState): boolean =>
  state === 'TASK_STATE_INPUT_REQUIRED' || hasEnded(state);

// The parameters of the methods. Unknown fields are ignored.

/** An empty string means absent in this encoding. */
const Id = z
  .string()
  .max(200)
  .transform((id) => (id === '' ? undefined : id))
  .optional();

const Metadata = z.record(z.string(), JsonValue).nullish();

const SentPart = z
  .object({
    text: z.string().optional(),
    data: JsonValue.optional(),
    url: z.string().min(1).max(10_000).optional(),
    raw: z
      .string()
      .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'is not base64')
      .refine((raw) => raw.length % 4 === 0, 'is not base64')
      .optional(),
    mediaType: z.string().max(200).optional(),
    filename: z.string().max(1_000).optional(),
  })
  .refine(
    (part) => [part.text, part.data, part.url, part.raw].filter((value) => value !== undefined).length === 1,
    'has exactly one of text, data, url and raw',
  );
export type SentPart = z.output<typeof SentPart>;

const SentMessage = z.object({
  messageId: z.string().min(1).max(200),
  contextId: Id,
  taskId: Id,
  role: z.literal('ROLE_USER', 'must be ROLE_USER'),
  parts: z.array(SentPart).min(1).max(100),
  metadata: Metadata,
});
export type SentMessage = z.output<typeof SentMessage>;

const HistoryLength = z.int().min(0).optional();

/** What goes into headers. */
const HeaderText = z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII');
const absentIfEmpty = (text: string): string | undefined => (text === '' ? undefined : text);

/** Where updates of a task are sent. */
export const PushTarget = z.object({
  url: z
    .string()
    .min(1)
    .max(2_000)
    .refine(isWebAddress, 'must be an http or https address without a password'),
  token: HeaderText.max(2_000).transform(absentIfEmpty).optional(),
  authentication: z
    .object({
      scheme: z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be the name of a scheme'),
      credentials: HeaderText.max(8_000).transform(absentIfEmpty).optional(),
    })
    .nullish(),
});

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return /^https?:$/.test(url?.protocol ?? '') && url?.username === '' && url.password === '';
}

const PushConfig = PushTarget.extend({ id: Id });
export type PushConfig = z.output<typeof PushConfig>;

export const SendParams = z.object({
  message: SentMessage,
  configuration: z
    .object({
      historyLength: HistoryLength,
      returnImmediately: z.boolean().default(false),
      taskPushNotificationConfig: PushConfig.nullish(),
    })
    .prefault({}),
  metadata: Metadata,
});
export type SendParams = z.output<typeof SendParams>;

const TaskId = z.string().min(1).max(200);

export const GetParams = z.object({ id: TaskId, historyLength: HistoryLength });

export const TaskParams = z.object({ id: TaskId });

export const PushParams = PushConfig.extend({ taskId: TaskId });
export const PushNameParams = z.object({ taskId: TaskId, id: TaskId });
export const PushListParams = z.object({ taskId: TaskId });

export const ListParams = z.object({
  contextId: Id,
  status: z
    .enum(['TASK_STATE_UNSPECIFIED', ...TASK_STATES, 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED'])
    .optional(),
  pageSize: z.int().min(1).max(100).default(50),
  pageToken: z.string().max(1_000).default(''),
  historyLength: HistoryLength,
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.boolean().default(false),
});
export type ListParams = z.output<typeof ListParams>;

/** The data part that answers an approval. */
export const ApprovalPart = z.object({
  approval: z.string().min(1).max(200),
  answer: z.enum(['once', 'always', 'deny']),
  reason: z.string().max(10_000).optional(),
});

export const RpcRequest: z.ZodType = named(
  'A2aRequest',
  z.object({
    jsonrpc: z.literal('2.0'),
    id: RpcId.default(null),
    method: z.string().min(1).max(200),
    params: z.record(z.string(), z.unknown()).default({}),
  }),
);

export const RequestHeaders = z.object({
  'a2a-version': z.string().optional().describe('1.0, or 0.3 for its methods; others are refused'),
});

/** A body of HTTP+JSON, which `SendParams` parses. */
export const HttpSendRequest: z.ZodType = named(
  'A2aSendRequest',
  z.looseObject({ message: z.looseObject({}) }),
);

/** A body of HTTP+JSON, which `PushParams` parses. */
export const HttpPushRequest: z.ZodType = named('A2aPushRequest', z.looseObject({ url: z.string() }));

/** Parameters of HTTP+JSON in the address, as texts. */
export const HttpGetQuery = z.object({ historyLength: z.coerce.number().int().min(0).optional() });
export const HttpListQuery = z.object({
  ...ListParams.shape,
  pageSize: z.coerce.number().int().min(1).max(100).default(50),
  historyLength: HttpGetQuery.shape.historyLength,
  includeArtifacts: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
});

const call = (method: string, params: object): { readonly body: object } => ({
  body: { jsonrpc: '2.0', id: 1, method, params },
});

const message = (messageId: string, text: string, about: object = {}) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...about },
});

const SENT = '4d2e4a76-4f5a-4b53-9a3f-2a1f3f8f4c01';
const ANSWERED = '4d2e4a76-4f5a-4b53-9a3f-2a1f3f8f4c02';

const PUSHED = {
  url: 'https://client.example/a2a/updates',
  authentication: { scheme: 'Bearer', credentials: 'secret-of-this-task' },
};

export const examples: Examples<RequestExample> = ({ session, turn, approval }) => [
  {
    title: 'Stream a task',
    first: true,
    stream: true,
    creates: true,
    ...call('SendStreamingMessage', message(SENT, 'count to 20', { contextId: session })),
  },
  {
    title: 'Send a message and wait for the task',
    creates: true,
    ...call('SendMessage', message(`${SENT}-2`, 'count to 3', { contextId: session })),
  },
  {
    title: 'Answer an approval',
    ...call('SendMessage', {
      message: {
        messageId: ANSWERED,
        role: 'ROLE_USER',
        taskId: turn,
        parts: [{ data: { approval, answer: 'once' } }],
      },
    }),
  },
  {
    title: 'Answer an approval with text',
    ...call('SendStreamingMessage', message(`${ANSWERED}-2`, 'yes', { taskId: turn, contextId: session })),
  },
  { title: 'Read a task', ...call('GetTask', { id: turn }) },
  { title: 'List tasks', ...call('ListTasks', { contextId: session, pageSize: 10 }) },
  { title: 'Cancel a task', ...call('CancelTask', { id: turn }) },
  { title: 'Subscribe to a task', ...call('SubscribeToTask', { id: turn }) },
  {
    title: 'Have the updates of a task sent to an address',
    ...call('CreateTaskPushNotificationConfig', { taskId: turn, ...PUSHED }),
  },
];

/** Of the endpoints of HTTP+JSON. */
export const httpExamples = {
  message: ({ session }) => [
    {
      title: 'Send a message and wait for the task',
      params: { operation: 'message:send' },
      creates: true,
      body: message(`${SENT}-3`, 'count to 3', { contextId: session }),
    },
    {
      title: 'Stream a task',
      params: { operation: 'message:stream' },
      stream: true,
      creates: true,
      body: message(`${SENT}-4`, 'count to 3', { contextId: session }),
    },
  ],
  push: ({ turn }) => [{ params: { task: turn }, body: PUSHED }],
  pushed: ({ turn }) => [{ params: { task: turn } }],
  pushConfig: ({ turn }) => [{ params: { task: turn, config: turn } }],
  task: ({ turn }) => [{ params: { task: turn }, query: { historyLength: '0' } }],
  operation: ({ turn }) => [
    { title: 'Cancel a task', params: { task: `${turn}:cancel` } },
    { title: 'Subscribe to a task', params: { task: `${turn}:subscribe` }, stream: true },
  ],
} satisfies Record<string, Examples<RequestExample>>;

// The objects that the server sends. Only documents and tests build the schemas.

export function schemas() {
  const A2aAgentCard = named(
    'A2aAgentCard',
    z.object({
      name: z.string(),
      description: z.string(),
      version: z.string(),
      supportedInterfaces: z.array(
        z.object({
          url: z.string().describe('absolute, at the address under which the card was requested'),
          protocolBinding: z.enum(['JSONRPC', 'HTTP+JSON']),
          protocolVersion: z.enum(['1.0', '0.3']),
        }),
      ),
      capabilities: z.object({
        streaming: z.literal(true),
        pushNotifications: z.boolean(),
        extendedAgentCard: z.literal(false),
      }),
      securitySchemes: z
        .object({
          bearer: z.object({
            httpAuthSecurityScheme: z.object({ scheme: z.literal('Bearer'), description: z.string() }),
            type: z.literal('http'),
            scheme: z.literal('bearer'),
          }),
        })
        .optional(),
      securityRequirements: z
        .array(z.object({ schemes: z.object({ bearer: z.object({ list: z.array(z.string()) }) }) }))
        .optional()
        .describe('if the server requires a token'),
      security: z
        .array(z.object({ bearer: z.array(z.string()) }))
        .optional()
        .describe('for clients of 0.3'),
      url: z.string().optional().describe('for clients of 0.3'),
      preferredTransport: z.literal('JSONRPC').optional().describe('for clients of 0.3'),
      protocolVersion: z.literal('0.3.0').optional().describe('for clients of 0.3'),
      defaultInputModes: z.array(z.string()),
      defaultOutputModes: z.array(z.string()),
      skills: z
        .array(
          z.object({
            id: z.string(),
            name: z.string(),
            description: z.string(),
            tags: z.array(z.string()).describe('the domains of the agent'),
          }),
        )
        .describe('one for each agent'),
    }),
  );

  const About = { mediaType: z.string().optional(), filename: z.string().optional() };

  const Part = z.union([
    z.object({ text: z.string(), ...About }),
    z.object({ data: JsonValue, ...About }),
    z.object({ url: z.string(), ...About }),
    z.object({ raw: z.string().describe('base64'), ...About }),
  ]);

  const A2aMessage = named(
    'A2aMessage',
    z.object({
      messageId: z.string(),
      contextId: z.string(),
      taskId: z.string(),
      role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
      parts: z.array(Part),
    }),
  );

  const A2aTask = named(
    'A2aTask',
    z.object({
      id: z.string(),
      contextId: z.string().describe('the session'),
      status: z.object({
        state: z.enum(TASK_STATES),
        message: A2aMessage.optional(),
        timestamp: z.string(),
      }),
      artifacts: z
        .array(z.object({ artifactId: z.string(), parts: z.array(Part) }))
        .optional()
        .describe('the text of the answer'),
      history: z.array(A2aMessage).optional(),
    }),
  );

  const A2aTaskPage = named(
    'A2aTaskPage',
    z.object({
      tasks: z.array(A2aTask),
      totalSize: z.int(),
      pageSize: z.int(),
      nextPageToken: z.string().describe('empty on the last page'),
    }),
  );

  const Failure = z.object({
    code: z.int(),
    message: z.string(),
    data: z.array(z.record(z.string(), z.string())).optional(),
  });

  const A2aPushConfig = named(
    'A2aPushConfig',
    z.object({
      id: z.string().describe('the id of the task if the client has chosen none'),
      taskId: z.string(),
      url: z.string(),
      token: z.string().optional(),
      authentication: z.object({ scheme: z.string() }).optional().describe('credentials are not shown again'),
    }),
  );

  const A2aPushConfigs = named(
    'A2aPushConfigs',
    z.object({ configs: z.array(A2aPushConfig), nextPageToken: z.literal('') }),
  );

  const A2aSendResponse = named('A2aSendResponse', z.object({ task: A2aTask }));

  const A2aHttpError = named(
    'A2aHttpError',
    z.object({
      error: z.object({
        code: z.int(),
        status: z.string(),
        message: z.string(),
        details: z.array(z.record(z.string(), z.string())).optional(),
      }),
    }),
  );

  const A2aError = named('A2aError', z.object({ jsonrpc: z.literal('2.0'), id: RpcId, error: Failure }));

  const A2aResponse = named(
    'A2aResponse',
    z.union([
      z.object({
        jsonrpc: z.literal('2.0'),
        id: RpcId,
        result: z.union([
          z.object({ task: A2aTask }),
          A2aTask,
          A2aTaskPage,
          A2aPushConfig,
          A2aPushConfigs,
          z.strictObject({}),
        ]),
      }),
      A2aError,
    ]),
  );

  return {
    A2aAgentCard,
    A2aMessage,
    A2aTask,
    A2aTaskPage,
    A2aPushConfig,
    A2aPushConfigs,
    A2aNothing: named('A2aNothing', z.strictObject({})),
    A2aSendResponse,
    A2aError,
    A2aHttpError,
    A2aResponse,
  };
}

type Schemas = ReturnType<typeof schemas>;
export type Message = Sent<z.output<Schemas['A2aMessage']>>;
export type Part = Message['parts'][number];
export type Task = Sent<z.output<Schemas['A2aTask']>>;
export type TaskPage = Sent<z.output<Schemas['A2aTaskPage']>>;
export type TaskPushConfig = Sent<z.output<Schemas['A2aPushConfig']>>;

type About = { readonly taskId: string; readonly contextId: string };

/** An element of a stream. */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly statusUpdate: About & { readonly status: Task['status'] } }
  | {
      readonly artifactUpdate: About & {
        readonly artifact: NonNullable<Task['artifacts']>[number];
        readonly append: boolean;
        readonly lastChunk: boolean;
      };
    };

export function taskIdOf(response: StreamResponse): string {
  if ('task' in response) return response.task.id;
  return 'statusUpdate' in response ? response.statusUpdate.taskId : response.artifactUpdate.taskId;
}

const NODE_SCRIPT = {
  title: 'Node and Bun, with @a2a-js/sdk',
  language: 'ts',
  code: `import { ClientFactory } from '@a2a-js/sdk/client';

const client = await new ClientFactory().createFromUrl('{{origin}}');
const token = process.env.PARLANCE_TOKEN;
const options = token ? { serviceParameters: { Authorization: \`Bearer \${token}\` } } : {};
const part = { content: { $case: 'text', value: 'count to 20' }, metadata: undefined, filename: '', mediaType: '' };
const message = {
  messageId: crypto.randomUUID(),
  contextId: '',
  taskId: '',
  role: 1, // ROLE_USER
  parts: [part],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
};
const request = { tenant: '', message, configuration: undefined, metadata: undefined };
for await (const { payload } of client.sendMessageStream(request, options)) {
  if (payload?.$case !== 'artifactUpdate') continue;
  for (const { content } of payload.value.artifact?.parts ?? [])
    if (content?.$case === 'text') process.stdout.write(content.value);
}`,
} as const;

export function description(): Description {
  const answers = schemas();
  return {
    title: 'A2A agents',
    summary:
      'Clients of the Agent2Agent protocol 1.0 (JSON-RPC and HTTP+JSON) and 0.3: contexts are sessions, tasks are turns.',
    note: 'Clients find the address in the agent card at /.well-known/agent-card.json and send a token or an API key as a bearer token.',
    scripts: [NODE_SCRIPT],
    schemas: answers,
    errors: errorAnswers(
      {
        400: 'The request is invalid',
        401: 'Missing or invalid token',
        404: 'There is no such task',
        409: 'The task has ended',
        415: 'A content type is not supported',
        403: 'The role lacks the permission',
        408: 'The body did not arrive in time',
        413: 'The body is too large',
        429: 'Too many requests',
        503: 'The server is overloaded or shutting down',
      },
      { schema: named('A2aFailure', z.union([answers.A2aError, answers.A2aHttpError])) },
    ),
  };
}
