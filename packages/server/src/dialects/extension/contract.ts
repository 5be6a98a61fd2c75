/** The frames of the contract, in and out, with examples. Fields that are not listed are not read. */
import { isObject, type Json, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import {
  type BodyOf,
  type Description,
  type ExampleIds,
  type InboundMessage,
  named,
  type OutboundMessages,
  typed,
} from '../kit/description.ts';

// In

/** Existing clients leave out ids and times, and send null for missing values. */
const HEAD = { id: z.string().nullish(), timestamp: z.number().nullish() };

const SessionName = z.preprocess(
  (value) => (value === null || value === '' ? undefined : value),
  SessionId.optional(),
);

export const Ping = z.object(HEAD);

export const ClientRegistration = z.object({
  ...HEAD,
  clientType: z.string().max(100).nullish(),
  capabilities: z.array(z.string().max(100)).max(50),
  userAgent: z.string().max(500).nullish(),
  metadata: z
    .unknown()
    .superRefine((value, context) => {
      const message = metadataProblem(value ?? {});
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .optional(),
  sessionToken: z.string().nullish(),
  userId: z.string().nullish(),
});

export const ChatMessage = z.object({ ...HEAD, content: z.string(), sessionId: SessionName });

export const ClearConversation = z.object({ ...HEAD, sessionId: SessionName });

export const ToolExecutionResponse = z.object({
  id: z.string(),
  timestamp: z.number(),
  executionId: z.string(),
  success: z.boolean(),
  executionTime: z.number().min(0),
  result: z.custom<Json>((value) => !deeperThan(MAX_DEPTH, value), 'is nested too deeply').optional(),
  error: z
    .object({
      type: z.enum(['validation', 'permission', 'timeout', 'browser_api', 'network', 'unknown']),
      message: z.string(),
      recoverable: z.boolean(),
      retryAfter: z.number().min(0).nullish(),
    })
    .nullish(),
});

export type ToolExecutionResponse = z.infer<typeof ToolExecutionResponse>;

export const ToolExecutionStatus = z.object({
  ...HEAD,
  executionId: z.string(),
  status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
  progress: z.number().min(0).max(100).nullish(),
  statusMessage: z.string().max(10_000).nullish(),
});

/** The body of `/api/summarize`. */
export const SummaryRequest = z.looseObject(
  {
    content: z.string('Content is required').regex(/\S/, 'Content is required'),
    title: z.string('Title must be a string').nullish(),
  },
  'Content is required',
);

const METADATA_LIMIT = 10_000;
const FORBIDDEN_KEYS = ['__proto__', 'constructor', 'prototype'];
/** Deeper values could be stored but not read again: schemas and JSON.stringify are recursive. */
const MAX_DEPTH = 100;

function metadataProblem(metadata: unknown): string | null {
  if (!isObject(metadata)) return 'must be a plain object';
  if (deeperThan(MAX_DEPTH, metadata)) return 'is nested too deeply';
  if (JSON.stringify(metadata).length > METADATA_LIMIT)
    return `must have at most ${METADATA_LIMIT} characters of JSON`;
  return hasForbiddenKey(metadata) ? `must not have the keys ${FORBIDDEN_KEYS.join(', ')}` : null;
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

const deeperThan = (levels: number, value: unknown): boolean =>
  isNested(value) &&
  (levels === 0 || Object.values(value).some((inner: unknown) => deeperThan(levels - 1, inner)));

const hasForbiddenKey = (value: unknown): boolean =>
  isNested(value) &&
  (FORBIDDEN_KEYS.some((key) => Object.hasOwn(value, key)) || Object.values(value).some(hasForbiddenKey));

const head = (type: string) => ({ id: 'msg_1700000000000_abcdefghi', type, timestamp: 1_700_000_000_000 });
const registration = { ...head('client_registration'), clientType: 'browser_extension' };

const chat = ({ session }: ExampleIds, content: string) => ({
  ...head('chat_message'),
  content,
  sessionId: session,
});

const response = ({ execution }: ExampleIds, rest: object) => ({
  ...head('tool_execution_response'),
  executionId: execution,
  executionTime: 10,
  ...rest,
});

const inbound = () =>
  ({
    client_registration: {
      summary:
        'Must be the first message; a second one replaces the first. `capabilities` names the tools that the client runs; `all_tools` stands for all of them.',
      schema: typed('client_registration', ClientRegistration),
      examples: ({ owner }) => [
        {
          title: 'Register',
          frame: { ...registration, capabilities: ['all_tools'] },
        },
        {
          title: 'Register with client details',
          frame: {
            ...registration,
            capabilities: ['extract_page_content'],
            userAgent: 'a browser',
            metadata: { extensionVersion: '1.0.0', nested: { a: [1, 2] } },
          },
        },
        {
          title: 'Register with a user name, which is ignored',
          probe: true,
          frame: { ...registration, capabilities: ['all_tools'], userId: owner },
        },
        {
          title: 'Register with an invalid token',
          probe: true,
          frame: { ...registration, capabilities: ['all_tools'], sessionToken: owner },
        },
      ],
    },
    ping: {
      summary: 'Asks for a `pong` with the same id; even before registration.',
      schema: typed('ping', Ping),
      examples: () => [{ title: 'Ping', frame: head('ping') }],
    },
    chat_message: {
      summary:
        'A message to the agent; `content` must not be blank. Without `sessionId` it goes to the session of the previous message. If an approval is pending in the session, a message that is just yes or no answers it.',
      schema: typed('chat_message', ChatMessage),
      examples: (ids) => [
        { title: 'Send a message', first: true, endedBy: 'agent_response', frame: chat(ids, 'count to 20') },
        {
          title: 'Ask for a command that needs approval',
          endedBy: 'agent_response',
          frame: chat(ids, 'run touch hello.txt'),
        },
        { title: 'Answer an approval: yes or no', endedBy: 'agent_response', frame: chat(ids, 'yes') },
        {
          title: 'Request the page from this client',
          endedBy: 'tool_execution_request',
          frame: chat(ids, 'extract this page'),
        },
      ],
    },
    clear_conversation: {
      summary: 'Clears the context of the session; `clientId` is ignored.',
      schema: typed('clear_conversation', ClearConversation),
      examples: ({ session }) => [
        { title: 'Reset the session', frame: { ...head('clear_conversation'), sessionId: session } },
      ],
    },
    tool_execution_response: {
      summary: 'The result of a tool call that the client executed.',
      schema: typed('tool_execution_response', ToolExecutionResponse),
      examples: (ids) => [
        {
          title: 'Return a tool result',
          frame: response(ids, { success: true, result: { title: 'A page', content: 'Its text.' } }),
        },
        {
          title: 'Return a tool error',
          frame: response(ids, {
            success: false,
            error: { type: 'permission', message: 'The page may not be read.', recoverable: false },
          }),
        },
      ],
    },
    tool_execution_status: {
      summary:
        'The progress of a tool that the client runs; forwarded to every socket attached to the session.',
      schema: typed('tool_execution_status', ToolExecutionStatus),
      examples: ({ execution }) => [
        {
          title: 'Report tool progress',
          frame: {
            ...head('tool_execution_status'),
            executionId: execution,
            status: 'executing',
            progress: 50,
            statusMessage: 'Half of the page is read',
          },
        },
      ],
    },
  }) satisfies Readonly<Record<string, InboundMessage>>;

// Out

const exampleOf = (type: string, rest: object) => ({
  id: 'msg_1700000000000_abcdefghi',
  timestamp: 1_700_000_000_000,
  type,
  ...rest,
});
const sessionId = 'demo';
const executionId = 'exec_1700000000000_abcdefghi';
export const CAPABILITIES = [
  'chat',
  'agent_processing',
  'tool_orchestration',
  'multi_client_support',
  'real_time_status',
];

function outbound() {
  const text = z.string();
  const stamp = { id: text.describe('`msg_<milliseconds>_<nine characters>`'), timestamp: z.number() };

  const frame = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
    z.strictObject({ ...stamp, type: z.literal(type), ...shape });

  return {
    registration_confirmed: {
      summary: 'The client is registered.',
      schema: frame('registration_confirmed', {
        clientId: text,
        capabilities: z.array(text).describe('capabilities of the server'),
        serverCapabilities: z.array(text).describe('the same as `capabilities`: clients read either field'),
        authenticated: z.boolean(),
        permissions: z.array(text),
      }),
      example: exampleOf('registration_confirmed', {
        clientId: 'socket_1700000000000_abcdefghi',
        capabilities: CAPABILITIES,
        serverCapabilities: CAPABILITIES,
        authenticated: false,
        permissions: ['session:own'],
      }),
    },
    pong: {
      summary: 'The answer to `ping`, with its `id`, and its time as `originalTimestamp`.',
      schema: frame('pong', { originalTimestamp: z.number().optional() }),
      example: exampleOf('pong', { originalTimestamp: 1_700_000_000_000 }),
    },
    agent_status: {
      summary: 'What the agent does, see below.',
      schema: frame('agent_status', {
        status: z.enum(['thinking', 'searching', 'analyzing', 'using_tool', 'complete', 'error']),
        currentTool: text.optional(),
        message: text.optional(),
        sessionId: text,
      }),
      example: exampleOf('agent_status', { status: 'thinking', sessionId }),
    },
    agent_response: {
      summary: 'The answer, once per successful turn. Also the question of each pending approval.',
      schema: frame('agent_response', {
        content: text,
        reasoning: text.optional(),
        sessionId: text,
        toolsUsed: z.array(
          z.strictObject({
            tool: text,
            input: text,
            output: text,
            executionTime: z.number().describe('milliseconds'),
          }),
        ),
      }),
      example: exampleOf('agent_response', { content: '1 2 3', sessionId, toolsUsed: [] }),
    },
    conversation_cleared: {
      summary: 'The context was cleared: to every socket attached to the session.',
      schema: frame('conversation_cleared', { sessionId: text, success: z.literal(true) }),
      example: exampleOf('conversation_cleared', { sessionId, success: true }),
    },
    tool_execution_request: {
      summary: 'Requests a tool call from the client, which answers with `tool_execution_response`.',
      schema: frame('tool_execution_request', {
        executionId: text,
        toolName: text,
        parameters: z.record(z.string(), z.json()),
        timeout: z.number().describe('milliseconds'),
        securityContext: z.strictObject({
          allowedOrigins: z.array(text),
          permissions: z.array(text),
          parameterValidation: z.record(z.string(), z.json()).describe('a JSON Schema'),
        }),
      }),
      example: exampleOf('tool_execution_request', {
        executionId,
        toolName: 'extract_page_content',
        parameters: {},
        timeout: 30_000,
        securityContext: { allowedOrigins: ['*'], permissions: [], parameterValidation: { type: 'object' } },
      }),
      ids: [{ id: 'execution', at: 'executionId' }],
    },
    tool_execution_status: {
      summary: "The progress of a client's tool call, for every socket attached to the session.",
      schema: frame('tool_execution_status', {
        executionId: text,
        status: z.enum(['queued', 'executing', 'completed', 'failed', 'timeout']),
        progress: z.number().min(0).max(100),
        statusMessage: text,
        sessionId: text,
      }),
      example: exampleOf('tool_execution_status', {
        executionId,
        status: 'executing',
        progress: 50,
        statusMessage: 'Half of the page is read',
        sessionId,
      }),
    },
    error: {
      summary: 'A message was refused, or the turn failed or was cancelled.',
      schema: frame('error', {
        message: text,
        code: z.enum(['INVALID_JSON', 'INVALID_MESSAGE', 'UNKNOWN_MESSAGE_TYPE', 'HANDLER_ERROR']),
        details: text.optional(),
        retryAfter: z.number().optional().describe('milliseconds'),
        sessionId: text.optional(),
      }),
      example: exampleOf('error', { message: 'Unknown message type: hello', code: 'UNKNOWN_MESSAGE_TYPE' }),
    },
    server_shutdown: {
      summary: 'The server shuts down; then the socket is closed with 1001.',
      schema: frame('server_shutdown', { message: text }),
      example: exampleOf('server_shutdown', { message: 'The server is shutting down.' }),
    },
  } satisfies OutboundMessages;
}

export type Body = BodyOf<typeof outbound>;
type WithoutStamp<One> = One extends Body ? Omit<One, 'id' | 'timestamp'> : never;
/** A message without the common fields. */
export type Content = WithoutStamp<Body>;
export type ContentOf<Type extends Content['type']> = Extract<Content, { type: Type }>;

export const schemas = () => ({
  Health: named('Health', z.object({ status: z.literal('ok'), timestamp: z.iso.datetime() })),
  Summary: named(
    'Summary',
    z.object({ summary: z.string(), title: z.string(), timestamp: z.iso.datetime() }),
  ),
});

export function description(): Description {
  named('SummaryRequest', SummaryRequest);
  const ExtensionError = named(
    'ExtensionError',
    z.object({ error: z.string(), details: z.string().optional() }),
  );
  const error = (text: string) => ({ description: text, schema: ExtensionError });

  return {
    title: 'Browser extension',
    summary: 'Browser extensions and C clients with browser tools, over a WebSocket.',
    note: 'Allow the extension’s origin: start the server with ALLOWED_ORIGINS=chrome-extension://ID.',
    socket: {
      nameField: 'type',
      greeting: { send: 'client_registration', receive: 'registration_confirmed' },
    },
    messages: { in: inbound(), out: outbound() },
    schemas: schemas(),
    errors: {
      400: error('Not JSON, no content, or an invalid title'),
      401: error('Missing or invalid token'),
      500: error('The model could not summarise it'),
    },
  };
}
