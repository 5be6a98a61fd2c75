/**
 * The request and the events of a run. Unknown fields of requests are ignored, and so are nulls of earlier versions. In
 * events, optional fields are left out, never null.
 */
import type { ActivityMessage, AGUIEvent, EventType, Message as OfficialMessage } from '@ag-ui/core';
import { CallerTool, Fault, type JsonObject, JsonValue } from '@parlance/protocol';
import { z } from 'zod';
import {
  type Description,
  type Examples,
  errorAnswers,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { isShared } from './shared-state.ts';

// In

const Id = z.string().min(1).max(200);

const Source = z.object({ type: z.string(), value: z.string().default(''), mimeType: z.string().nullish() });

const TextPart = z.object({ type: z.literal('text'), text: z.string() });
const MediaPart = z.object({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source });
/** versions before 1.0 */
const BinaryPart = z.object({
  type: z.literal('binary'),
  mimeType: z.string(),
  data: z.string().nullish(),
  url: z.string().nullish(),
  filename: z.string().nullish(),
});
const ContentPart = z.discriminatedUnion('type', [TextPart, MediaPart, BinaryPart]);
export type ClientPart = z.output<typeof ContentPart>;

const Content = z.union([z.string(), z.array(ContentPart).max(100)]);
export type ClientContent = z.output<typeof Content>;

const ToolCall = z.object({
  id: Id,
  function: z.object({ name: z.string().min(1).max(200), arguments: z.string() }),
});

const Message = z.discriminatedUnion('role', [
  z.object({ id: Id, role: z.literal('system'), content: z.string() }),
  z.object({ id: Id, role: z.literal('developer'), content: z.string() }),
  z.object({ id: Id, role: z.literal('user'), content: Content }),
  z.object({
    id: Id,
    role: z.literal('assistant'),
    content: z.string().nullish(),
    toolCalls: z.array(ToolCall).max(1_000).nullish(),
  }),
  z.object({
    id: Id,
    role: z.literal('tool'),
    toolCallId: Id,
    content: Content,
    error: z.string().nullish(),
  }),
  z.object({ id: Id, role: z.literal('reasoning'), content: z.string() }),
  z.object({ id: Id, role: z.literal('activity') }),
]);
export type ClientMessage = z.output<typeof Message>;

const Tool = z.object({
  name: CallerTool.shape.name,
  description: z.string().max(20_000).nullish(),
  parameters: z.record(z.string(), JsonValue).nullish(),
});

const ResumeEntry = z.object({
  interruptId: Id,
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
export type ResumeEntry = z.output<typeof ResumeEntry>;

const Context = z.object({ description: z.string().max(20_000), value: z.string().max(200_000) });

const MAX_STATE = 100_000;

export const RunAgentInput = z.object({
  threadId: z.string().min(1).max(200),
  runId: Id,
  /** shared with the agent if it is an object that is not empty */
  state: JsonValue.optional(),
  messages: z.array(Message).max(10_000),
  tools: z.array(Tool).max(1_000).nullish(),
  context: z.array(Context).max(1_000).nullish(),
  resume: z.array(ResumeEntry).max(1_000).nullish(),
  protocolVersion: z.string().nullish(),
});
/** The state of the request, if it shares one. Throws if it is too large. */
export function sharedState({ state }: RunAgentInput): JsonObject | null {
  if (!isShared(state)) return null;
  if (JSON.stringify(state).length > MAX_STATE)
    throw new Fault('too_large', `The state has more than ${MAX_STATE} characters.`);
  return state;
}
export type RunAgentInput = z.output<typeof RunAgentInput>;

export const hello = { id: 'message-1', role: 'user', content: 'count to 20' } as const;

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
} as const;

export const run = (threadId: string, runId: string, more: object) => ({ threadId, runId, ...more });

export const started = (session: string): RequestExample => ({
  title: 'Run an agent',
  first: true,
  stream: true,
  creates: true,
  body: run(session, 'run-1', { messages: [hello] }),
});

export const examples: Examples<RequestExample> = ({ session, approval, call }) => [
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
    title: 'With a state that the agent can change',
    stream: true,
    creates: true,
    body: run(session, 'run-7', {
      messages: [{ id: 'message-6', role: 'user', content: 'count to 3' }],
      state: { recipe: { title: 'Soup', servings: 2 } },
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

// Out

/** Activities are events, and no messages of the thread. */
export type Message = Exclude<OfficialMessage, ActivityMessage>;

/** Fields of the official event that the server never sends are left out of the types. */
type Official<Type extends `${EventType}`, Fields extends string> = {
  [One in Type]: { readonly type: One } & Readonly<
    Pick<Extract<AGUIEvent, { type: One }>, Fields & keyof Extract<AGUIEvent, { type: One }>>
  >;
}[Type];

/** Output of a model. */
export type ContentEvent =
  | Official<'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END' | 'TEXT_MESSAGE_END', 'messageId'>
  | Official<'REASONING_MESSAGE_START', 'messageId' | 'role'>
  | DeltaEvent
  | (Official<'TEXT_MESSAGE_START', 'messageId' | 'role'> & { readonly role: 'assistant' | 'user' })
  | (Official<'TOOL_CALL_START', 'toolCallId' | 'toolCallName' | 'parentMessageId'> & {
      readonly parentMessageId: string;
    })
  | Official<'TOOL_CALL_ARGS', 'toolCallId' | 'delta'>
  | Official<'CUSTOM', 'name' | 'value'>
  | Official<'TOOL_CALL_END', 'toolCallId'>
  | (Official<'TOOL_CALL_RESULT', 'messageId' | 'toolCallId' | 'content' | 'role'> & {
      readonly content: string;
      readonly role: 'tool';
    })
  /** another model answers from here on */
  | (Official<'CUSTOM', 'name' | 'value'> & { readonly name: 'model' })
  /** the part of another agent */
  | Official<'STEP_STARTED' | 'STEP_FINISHED', 'stepName'>
  /** the plan of the agent */
  | Official<'ACTIVITY_SNAPSHOT', 'messageId' | 'activityType' | 'content' | 'replace'>;

export type DeltaEvent = Official<
  'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT',
  'messageId' | 'delta'
>;

/** The frame of a run. */
export type RunEvent =
  | Official<'RUN_STARTED', 'threadId' | 'runId' | 'protocolVersion'>
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly Message[] }
  | Official<'STATE_SNAPSHOT', 'snapshot'>
  | Official<'STATE_DELTA', 'delta'>
  | Official<'RUN_FINISHED', 'threadId' | 'runId' | 'outcome' | 'usage'>
  | (Official<'RUN_ERROR', 'message' | 'code'> & { readonly code: string });

export type AguiEvent = ContentEvent | RunEvent;

// Documents

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

export function description(): Description {
  named('AguiRunAgentInput', RunAgentInput);
  const ErrorAnswer = named(
    'AguiError',
    z.object({ message: z.string(), code: z.string().describe('the code of the fault, such as not_found') }),
  );
  return {
    title: 'AG-UI front ends',
    summary:
      'HttpAgent of @ag-ui/client, CopilotKit and other AG-UI clients: set the URL to /agui or /agui/{agent}.',
    note: 'The thread is the session. Approvals are interrupts: answer them with resume in the next run.',
    scripts: [NODE_SCRIPT, RUNTIME_SCRIPT],
    errors: errorAnswers(
      {
        400: 'Missing or invalid field, or an empty message',
        401: 'Missing or invalid token',
        403: 'The role lacks the permission',
        404: 'Unknown agent, thread or interrupt',
        413: 'The body is too large',
        429: 'Too many requests',
        503: 'The server is overloaded or shutting down',
      },
      { schema: ErrorAnswer },
    ),
  };
}
