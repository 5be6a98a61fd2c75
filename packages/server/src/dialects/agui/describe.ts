import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';

import { RunAgentInput } from './schemas.ts';

const ErrorAnswer = named(
  'AguiError',
  z.object({ message: z.string(), code: z.string().describe('the code of the fault, such as not_found') }),
);

const REASONS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid field, or an empty message',
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  404: 'Unknown agent, thread or interrupt',
  413: 'The body is too large',
  429: 'Too many requests',
  503: 'The server is overloaded or shutting down',
};

const ERRORS: Answers = Object.fromEntries(
  Object.entries(REASONS).map(([code, description]) => [code, { description, schema: ErrorAnswer }]),
);

const hello = { id: 'message-1', role: 'user', content: 'count to 20' } as const;

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

const run = (threadId: string, runId: string, more: object) => ({ threadId, runId, ...more });

const started = (session: string): RequestExample => ({
  title: 'Run an agent',
  first: true,
  stream: true,
  creates: true,
  body: run(session, 'run-1', { messages: [hello] }),
});

const examples: Examples<RequestExample> = ({ session, approval, call }) => [
  started(session),
  {
    title: 'With tools and context of the front end',
    stream: true,
    creates: true,
    body: run(session, 'run-2', {
      messages: [{ id: 'message-2', role: 'user', content: 'count to 3' }],
      tools: [WEATHER],
      context: [{ description: 'The open page', value: 'Invoices' }],
    }),
  },
  {
    title: 'Show the thread',
    stream: true,
    body: run(session, 'run-3', { messages: [] }),
  },
  {
    title: 'Answer an interrupt',
    stream: true,
    body: run(session, 'run-4', {
      messages: [],
      resume: [{ interruptId: approval, status: 'resolved', payload: { approved: true } }],
    }),
  },
  {
    title: 'With a history and a result',
    stream: true,
    creates: true,
    body: run(session, 'run-5', {
      messages: [
        hello,
        {
          id: 'message-3',
          role: 'assistant',
          toolCalls: [{ id: call, type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { id: 'message-4', role: 'tool', toolCallId: call, content: 'sunny' },
        { id: 'message-5', role: 'user', content: 'count to 3' },
      ],
    }),
  },
  { probe: true, body: run(session, 'run-6', { messages: [{ ...hello, role: 'nobody' }] }) },
];

const STREAM = {
  description: 'The events of the run',
  type: 'text/event-stream',
  schema: z.string().describe('`data: {event}` lines, from RUN_STARTED to RUN_FINISHED or RUN_ERROR'),
};

const endpoints: Endpoint[] = [
  {
    method: 'post',
    path: '/agui',
    summary: 'Run the default agent, answer what it waits for, or show the thread',
    security: 'caller',
    body: named('AguiRunAgentInput', RunAgentInput),
    examples,
    answers: { 200: STREAM, ...ERRORS },
  },
  {
    method: 'post',
    path: '/agui/{agent}',
    summary: 'The same with a specific agent',
    security: 'caller',
    body: RunAgentInput,
    examples: ({ session }) => [
      { ...started(session), params: { agent: 'coder' } },
      { params: { agent: 'nobody' }, probe: true, body: run(session, 'run-7', { messages: [hello] }) },
    ],
    answers: { 200: STREAM, ...ERRORS },
  },
];

const NODE_SCRIPT = {
  title: 'Node and Bun, with @ag-ui/client',
  language: 'ts',
  code: `import { HttpAgent } from '@ag-ui/client';

const token = process.env.PARLANCE_TOKEN;
const agent = new HttpAgent({
  url: '{{origin}}/agui',
  headers: token ? { Authorization: \`Bearer \${token}\` } : {},
});
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'count to 20' });
await agent.runAgent({}, {
  onTextMessageContentEvent: ({ event }) => void process.stdout.write(event.delta),
});`,
} as const;

const RUNTIME_SCRIPT = {
  title: 'CopilotKit, the runtime in a Node server',
  language: 'ts',
  code: `import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: '{{origin}}/agui' }) } });
createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit', cors: true })).listen(4000);`,
} as const;

export const description: Description = {
  title: 'AG-UI front ends',
  summary:
    'HttpAgent of @ag-ui/client, CopilotKit and other AG-UI clients: set the URL to /agui or /agui/{agent}.',
  note: 'The thread is the session. Approvals are interrupts: answer them with resume in the next run.',
  scripts: [NODE_SCRIPT, RUNTIME_SCRIPT],
  endpoints,
};
