import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Endpoint,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';

import { ChatRequest, HistoryQuery } from './schemas.ts';

const ChatView = named(
  'AisdkChat',
  z.object({
    id: z.string(),
    title: z.string().optional(),
    before: z.string().optional().describe('the messages before these: `?before=`; absent if there are none'),
    messages: z
      .array(
        z.object({
          id: z.string().describe('of an answer: its turn'),
          role: z.enum(['user', 'assistant']),
          metadata: z.json().optional().describe('as the page sent it'),
          parts: z.array(z.looseObject({ type: z.string() })),
        }),
      )
      .describe('UI messages, as `validateUIMessages` of the SDK accepts them'),
  }),
);

const Sentence = z.string().describe('one sentence for the user');

const REASONS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid field, or an empty message',
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  404: 'Unknown chat or answer',
  409: 'Already answered, or nothing new',
  413: 'The body is too large',
  429: 'Too many requests, or too many queued messages',
  503: 'The server is overloaded or shutting down',
};

const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(
    codes.map((code) => [code, { description: REASONS[code] ?? '', schema: Sentence, type: 'text/plain' }]),
  );

const STREAM: Answers = {
  200: {
    description: 'The answer as a UI message stream',
    type: 'text/event-stream',
    schema: z.string().describe('chunks from `start` to `finish`, `error` or `abort`, then `[DONE]`'),
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  },
};

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

const examples: Examples<RequestExample> = ({ session, turn, call, approval }) => [
  {
    title: 'Send a message',
    first: true,
    stream: true,
    creates: true,
    body: { id: session, trigger: 'submit-message', messages: [user('m1', 'count to 20')] },
  },
  {
    title: 'Send a message, with a tool of the page',
    stream: true,
    creates: true,
    body: {
      id: session,
      messages: [user('m2', 'count to 3')],
      tools: [
        {
          name: 'weather',
          description: 'The weather of a city',
          inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
        },
      ],
    },
  },
  {
    title: 'Answer the last message again',
    stream: true,
    creates: true,
    body: { id: session, trigger: 'regenerate-message', messages: [user('m1', 'count to 20')] },
  },
  {
    title: 'Edit a message',
    stream: true,
    creates: true,
    body: { id: session, messageId: 'm1', messages: [user('m1', 'count to 10')] },
  },
  {
    title: 'Answer an approval',
    probe: true,
    body: {
      id: session,
      messageId: turn,
      messages: [
        user('m1', 'touch a file'),
        {
          id: turn,
          role: 'assistant',
          parts: [
            {
              type: 'dynamic-tool',
              toolName: 'shell',
              toolCallId: call,
              state: 'approval-responded',
              input: {},
              approval: { id: approval, approved: true },
            },
          ],
        },
      ],
    },
  },
  { probe: true, body: { id: session, messages: [{ id: 'm1', role: 'user', parts: [] }] } },
];

const chat = (ids: { readonly session: string }): readonly [RequestExample] => [
  { params: { id: ids.session } },
];

const endpoints: readonly Endpoint[] = [
  {
    method: 'post',
    path: '/api/chat',
    summary: 'Send, edit or regenerate a message, or continue an answer; returns the answer as a stream',
    security: 'caller',
    body: named('AisdkChatRequest', ChatRequest),
    examples,
    answers: { ...STREAM, ...errors(400, 401, 403, 404, 409, 413, 429, 503) },
  },
  {
    method: 'get',
    path: '/api/chat/{id}',
    summary: 'The title and messages of a chat, from all dialects',
    security: 'caller',
    query: HistoryQuery,
    examples: chat,
    answers: {
      200: { description: 'The chat', schema: ChatView },
      ...errors(401, 403, 404, 429),
    },
  },
  {
    method: 'get',
    path: '/api/chat/{id}/stream',
    summary: 'Resume the running answer, from its start',
    security: 'caller',
    examples: ({ session }) => [{ params: { id: session }, stream: true }],
    answers: {
      ...STREAM,
      204: { description: 'No answer is running' },
      ...errors(401, 403, 429),
    },
  },
  {
    method: 'post',
    path: '/api/chat/{id}/stop',
    summary: 'Stop the running answer',
    security: 'caller',
    examples: chat,
    answers: { 204: { description: 'No answer is running' }, ...errors(401, 403, 404, 429) },
  },
];

const REACT_SCRIPT = {
  title: 'React, with @ai-sdk/react',
  language: 'ts',
  code: `import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';

const transport = new DefaultChatTransport({
  api: '{{origin}}/api/chat',
  headers: () => ({ authorization: \`Bearer \${token}\` }), // not needed in open mode
});

export const useParlance = (id: string) => useChat({ id, transport, resume: true });`,
} as const;

const NODE_SCRIPT = {
  title: 'Node and Bun, with ai',
  language: 'ts',
  code: `import { DefaultChatTransport } from 'ai';

const transport = new DefaultChatTransport({ api: '{{origin}}/api/chat' });
const stream = await transport.sendMessages({
  chatId: crypto.randomUUID(),
  trigger: 'submit-message',
  messageId: undefined,
  abortSignal: undefined,
  messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'count to 20' }] }],
});
for await (const chunk of stream) if (chunk.type === 'text-delta') process.stdout.write(chunk.delta);`,
} as const;

export const description: Description = {
  title: 'Pages with the AI SDK',
  summary:
    'useChat of the Vercel AI SDK, for React, Vue, Svelte and Angular: set the api of its transport to /api/chat.',
  note: 'Pages of another origin must be allowed with --origin; Authorization carries a token or an API key.',
  scripts: [REACT_SCRIPT, NODE_SCRIPT],
  endpoints,
};
