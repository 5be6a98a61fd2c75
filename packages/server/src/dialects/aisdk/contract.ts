/** The requests and the chunks of the UI message stream. Unknown fields and parts of requests are ignored. */
import {
  CallerTool,
  type Json,
  type JsonObject,
  JsonValue,
  type LimitUse,
  type ProjectFile,
  SessionId,
} from '@parlance/protocol';
import type { UIMessageChunk } from 'ai';
import { z } from 'zod';
import {
  type Description,
  type Examples,
  errorAnswers,
  named,
  type RequestExample,
} from '../kit/description.ts';

// In

const Part = z.looseObject({ type: z.string().min(1).max(200) });

export const Message = z.object({
  id: z.string().min(1).max(200),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(Part).max(10_000),
  metadata: JsonValue.optional(),
});
export type Message = z.output<typeof Message>;

const MAX_TOOLS = 1_000;

const JsonSchema = z.record(z.string(), JsonValue).nullish();

const PageTool = z.object({
  description: z.string().max(20_000).nullish(),
  inputSchema: JsonSchema.describe('JSON Schema'),
  parameters: JsonSchema.describe('the same as inputSchema'),
});

const PageTools = z.union([
  z.array(PageTool.extend({ name: CallerTool.shape.name })).max(MAX_TOOLS),
  z
    .record(CallerTool.shape.name, PageTool)
    .refine((tools) => Object.keys(tools).length <= MAX_TOOLS, `At most ${MAX_TOOLS} tools are allowed`),
]);

export const ChatRequest = z.object({
  id: SessionId.describe('the session'),
  messages: z.array(Message).min(1).max(10_000),
  trigger: z.enum(['submit-message', 'regenerate-message']).nullish(),
  messageId: z.string().nullish().describe('a message of the user to edit, or an answer to continue'),
  tools: PageTools.nullish().describe(
    'run by the page, beside those of the agent: a list, or an object by name as assistant-ui sends it',
  ),
  system: z.string().nullish().describe('instructions, beside those in messages'),
});
export type ChatRequest = z.output<typeof ChatRequest>;

/** A longer history comes in pages. */
const MAX_MESSAGES = 2_000;
const LIMIT = `it is a number from 1 to ${MAX_MESSAGES}`;

export const HistoryQuery = z.object({
  limit: z.coerce
    .number(LIMIT)
    .int(LIMIT)
    .min(1, LIMIT)
    .max(MAX_MESSAGES, LIMIT)
    .default(MAX_MESSAGES)
    .describe('messages, the latest ones'),
  before: z.string().max(40).optional().describe('`before` of the answer with the messages that follow'),
});

// Parts, each validated where it is used.

export const TextPart = z.object({ type: z.literal('text'), text: z.string() });

export const FilePart = z.object({
  type: z.literal('file'),
  url: z.string(),
  mediaType: z.string().max(200).default(''),
  filename: z.string().max(500).optional(),
});

const Called = { toolCallId: z.string(), providerExecuted: z.boolean().optional() };

/** A tool call in an assistant message. Other states count as unanswered. */
export const ToolPart = z.discriminatedUnion('state', [
  z.object({
    ...Called,
    state: z.literal('approval-responded'),
    approval: z.object({ id: z.string(), approved: z.boolean(), reason: z.string().max(10_000).optional() }),
  }),
  z.object({ ...Called, state: z.literal('output-available'), output: JsonValue.optional() }),
  z.object({ ...Called, state: z.literal('output-error'), errorText: z.string() }),
  z.object({ ...Called, state: z.literal('output-denied') }),
]);
export type ToolPart = z.output<typeof ToolPart>;

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });

export const examples: Examples<RequestExample> = ({ session, turn, call, approval }) => [
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

// Out

type Official<Type extends UIMessageChunk['type']> = Readonly<Extract<UIMessageChunk, { type: Type }>>;

export type FinishReason = Extract<
  Official<'finish'>['finishReason'],
  'stop' | 'length' | 'content-filter' | 'tool-calls'
>;

/** Tools of the server have both: the page neither runs them nor knows their types. */
export type ServerTool = { readonly providerExecuted?: true; readonly dynamic?: true };

export type Chunk =
  | (Official<'start'> & { readonly messageId: string })
  | Official<'start-step' | 'finish-step' | 'reset-step' | 'steering-message' | 'abort' | 'error'>
  | Official<
      'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
    >
  | (Official<'finish'> & { readonly finishReason: FinishReason })
  /** another model answers from here on */
  | (Official<'message-metadata'> & { readonly messageMetadata: { readonly model: string } })
  | LimitChunk
  | InstructionsChunk
  | ProgressChunk
  | ToolChunk;

/** 80 % of a limit is used. Not part of the message. */
export type LimitChunk = {
  readonly type: 'data-limit';
  readonly data: LimitUse & { readonly text: string };
  readonly transient: true;
};

/** Files of the working folder that are not followed. Not part of the message. */
export type InstructionsChunk = {
  readonly type: 'data-instructions';
  readonly data: { readonly files: readonly ProjectFile[]; readonly text: string };
  readonly transient: true;
};

/** What a call does, in one line. Not part of the message. */
export type ProgressChunk = {
  readonly type: 'data-progress';
  readonly data: { readonly toolCallId: string; readonly text: string };
  readonly transient: true;
};

export type ToolChunk =
  | Official<'tool-input-start' | 'tool-input-delta' | 'tool-output-error' | 'tool-output-denied'>
  | (Official<'tool-input-available'> & { readonly input: JsonObject })
  | (Official<'tool-output-available'> & { readonly output: Json })
  | (Official<'tool-approval-request'> & { readonly reason: string })
  /** The call is not part of the official chunk, whose readers find it by the approval. */
  | (Official<'tool-approval-response'> & { readonly toolCallId: string });

// Documents

export const schemas = () => ({
  ChatView: named(
    'AisdkChat',
    z.object({
      id: z.string(),
      title: z.string().optional(),
      before: z
        .string()
        .optional()
        .describe('the messages before these: `?before=`; absent if there are none'),
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
  ),
});

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

export function description(): Description {
  named('AisdkChatRequest', ChatRequest);
  return {
    title: 'Pages with the AI SDK',
    summary:
      'useChat of the Vercel AI SDK, for React, Vue, Svelte and Angular: set the api of its transport to /api/chat.',
    note: 'Pages of another origin must be allowed with --origin; Authorization carries a token or an API key.',
    scripts: [REACT_SCRIPT, NODE_SCRIPT],
    schemas: schemas(),
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
}
