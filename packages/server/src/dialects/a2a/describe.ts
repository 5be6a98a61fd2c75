import { JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { RpcId } from '../kit/json-rpc.ts';
import { CARD_PATH, RPC_PATH } from './card.ts';
import { TASK_STATES } from './objects.ts';

// Schemas of responses, for the descriptions.

const AgentCard = named(
  'A2aAgentCard',
  z.object({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.object({
        url: z.string().describe('absolute, at the address under which the card was requested'),
        protocolBinding: z.literal('JSONRPC'),
        protocolVersion: z.literal('1.0'),
      }),
    ),
    capabilities: z.object({
      streaming: z.literal(true),
      pushNotifications: z.literal(false),
      extendedAgentCard: z.literal(false),
    }),
    securitySchemes: z.object({
      bearer: z.object({
        httpAuthSecurityScheme: z.object({ scheme: z.literal('Bearer'), description: z.string() }),
      }),
    }),
    securityRequirements: z.array(
      z.object({ schemes: z.object({ bearer: z.object({ list: z.array(z.string()) }) }) }),
    ),
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

const Message = named(
  'A2aMessage',
  z.object({
    messageId: z.string(),
    contextId: z.string(),
    taskId: z.string(),
    role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
    parts: z.array(Part),
  }),
);

const Task = named(
  'A2aTask',
  z.object({
    id: z.string(),
    contextId: z.string().describe('the session'),
    status: z.object({
      state: z.enum(TASK_STATES),
      message: Message.optional(),
      timestamp: z.string(),
    }),
    artifacts: z
      .array(z.object({ artifactId: z.string(), parts: z.array(Part) }))
      .optional()
      .describe('the text of the answer'),
    history: z.array(Message).optional(),
  }),
);

const TaskPage = named(
  'A2aTaskPage',
  z.object({
    tasks: z.array(Task),
    totalSize: z.int(),
    pageSize: z.int(),
    nextPageToken: z.string().describe('empty on the last page'),
  }),
);

const RpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: RpcId.default(null),
  method: z.string().min(1).max(200),
  params: z.record(z.string(), z.unknown()).default({}),
});

const RpcError = z.object({
  code: z.int(),
  message: z.string(),
  data: z.array(z.record(z.string(), z.string())).optional(),
});

const RpcFailure = named('A2aError', z.object({ jsonrpc: z.literal('2.0'), id: RpcId, error: RpcError }));

const RpcAnswer = named(
  'A2aResponse',
  z.union([
    z.object({
      jsonrpc: z.literal('2.0'),
      id: RpcId,
      result: z.union([z.object({ task: Task }), Task, TaskPage]),
    }),
    RpcFailure,
  ]),
);

const REASONS: Readonly<Record<number, string>> = {
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  408: 'The body did not arrive in time',
  413: 'The body is too large',
  429: 'Too many requests',
  503: 'The server is overloaded or shutting down',
};

const refusals: Answers = Object.fromEntries(
  Object.entries(REASONS).map(([code, description]) => [code, { description, schema: RpcFailure }]),
);

const call = (method: string, params: object): { readonly body: object } => ({
  body: { jsonrpc: '2.0', id: 1, method, params },
});

const message = (messageId: string, text: string, about: object = {}) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...about },
});

const SENT = '4d2e4a76-4f5a-4b53-9a3f-2a1f3f8f4c01';
const ANSWERED = '4d2e4a76-4f5a-4b53-9a3f-2a1f3f8f4c02';

const examples: Examples<RequestExample> = ({ session, turn, approval }) => [
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
];

const endpoints: Endpoint[] = [
  {
    method: 'get',
    path: CARD_PATH,
    summary: 'The agent card',
    security: 'nobody',
    answers: { 200: { description: 'The card', schema: AgentCard } },
  },
  {
    method: 'post',
    path: RPC_PATH,
    summary: 'JSON-RPC: SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask',
    security: 'caller',
    headers: z.object({
      'a2a-version': z.string().optional().describe('1.0; another major version is refused'),
    }),
    body: named('A2aRequest', RpcRequest),
    examples,
    answers: {
      200: [
        { description: 'The result or an error, or a stream of results', schema: RpcAnswer },
        {
          description: '',
          type: 'text/event-stream',
          schema: z.string().describe('JSON-RPC responses with `task`, `artifactUpdate` or `statusUpdate`'),
        },
      ],
      ...refusals,
    },
  },
];

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

export const description: Description = {
  title: 'A2A agents',
  summary: 'Clients of the Agent2Agent protocol 1.0 (JSON-RPC): contexts are sessions, tasks are turns.',
  note: 'Clients find the address in the agent card at /.well-known/agent-card.json and send a token or an API key as a bearer token.',
  scripts: [NODE_SCRIPT],
  endpoints,
};
