import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../shared/description.ts';
import { CARD_PATH, RPC_PATH } from './card.ts';
import { AgentCard, RpcAnswer, RpcFailure } from './response-schemas.ts';
import { RpcRequest } from './rpc.ts';

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
