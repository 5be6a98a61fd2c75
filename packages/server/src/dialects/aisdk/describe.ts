import { z } from 'zod';
import { type Description, errorAnswers, named } from '../kit/description.ts';
import { ChatRequest } from './contract.ts';

named('AisdkChatRequest', ChatRequest);

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

export const schemas = { ChatView };

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
  schemas,
  errors: errorAnswers(
    {
      400: 'Missing or invalid field, or an empty message',
      401: 'Missing or invalid token',
      403: 'The role lacks the permission',
      404: 'Unknown chat or answer',
      409: 'Already answered, or nothing new',
      413: 'The body is too large',
      429: 'Too many requests, or too many queued messages',
      503: 'The server is overloaded or shutting down',
    },
    { schema: z.string().describe('one sentence for the user'), type: 'text/plain' },
  ),
};
