/** The messages, in and out, with examples. Unknown fields of clients are ignored, including `_meta`. */
import type {
  CreateElicitationRequest,
  RequestPermissionRequest,
  SessionNotification,
} from '@agentclientprotocol/sdk';
import { ApprovalMode } from '@parlance/protocol';
import { z } from 'zod';
import type {
  BodyOf,
  Description,
  ExampleIds,
  Frozen,
  InboundMessage,
  MessageExample,
  OutboundMessages,
} from '../kit/description.ts';

// In: the parameters of the methods

const sessionId = z.string().min(1).max(200);
const cwd = z
  .string()
  .max(4_096)
  .refine((path) => path.startsWith('/'), { message: 'must be an absolute path' });
/** MCP servers of the client are not started. */
const mcpServers = z.array(z.unknown()).max(1_000).optional();

const Text = z.object({ type: z.literal('text'), text: z.string() });
const Image = z.object({ type: z.literal('image'), mimeType: z.string().max(200), data: z.base64() });
const Link = z.object({ type: z.literal('resource_link'), name: z.string(), uri: z.string() });
const Resource = z.object({
  type: z.literal('resource'),
  resource: z.union([
    z.object({ uri: z.string(), text: z.string() }),
    z.object({ uri: z.string(), blob: z.base64(), mimeType: z.string().nullish() }),
  ]),
});

export const Block = z.discriminatedUnion('type', [Text, Image, Link, Resource]);
export type Block = z.output<typeof Block>;

export const Initialize = z.object({
  protocolVersion: z.number().int(),
  clientCapabilities: z
    .object({
      auth: z.object({ terminal: z.boolean() }).partial().nullish(),
      /** the forms that it can show; a mode that is absent or null is not supported */
      elicitation: z.object({ form: z.looseObject({}).nullish() }).nullish(),
    })
    .partial()
    .nullish(),
});
export const NewSession = z.object({ cwd, mcpServers });
/** A session keeps the folder it was created in. */
export const OpenSession = z.object({
  sessionId,
  cwd,
  mcpServers,
  _meta: z.object({ 'parlance/resume': z.unknown() }).partial().nullish(),
});
/** The position of a client that reconnects. */
export const Position = z.object({
  /** the last event that the client has received */
  after: z.number().int().min(0),
  /** the keys of its own prompts: their text is not repeated */
  keys: z.array(z.string().max(200)).max(1_000),
});
export type Position = z.output<typeof Position>;
export const ListSessions = z.object({
  cwd: z.string().max(4_096).nullish(),
  cursor: z.string().max(1_000).nullish(),
});
export const OneSession = z.object({ sessionId });
export const SetMode = z.object({ sessionId, modeId: ApprovalMode });
export const SetConfig = z.object({
  sessionId,
  configId: z.enum(['mode', 'model', 'agent']),
  value: z.string().min(1).max(200),
});
export const Prompt = z.object({
  sessionId,
  prompt: z.array(Block).min(1, 'must have at least one block').max(100),
  /** repeated prompts with the same key are one prompt */
  _meta: z
    .object({ 'parlance/key': z.string().min(1).max(200) })
    .partial()
    .nullish(),
});
export const CancelRequest = z.object({ requestId: z.union([z.string(), z.number(), z.null()]) });

export const PermissionResult = z.object({
  outcome: z.discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('selected'), optionId: z.string() }),
    z.object({ outcome: z.literal('cancelled') }),
  ]),
});

/** What the user did with a form. */
export const FormResult = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
});

const jsonrpc = z.literal('2.0');
const id = z.union([z.string(), z.number(), z.null()]);

type Examples = (ids: ExampleIds) => readonly [TitledExample, ...TitledExample[]];
type TitledExample = { readonly title: string; readonly params: object };

/** A message without an id is a notification. */
const message =
  (head: { readonly id?: 1 }) =>
  (method: string, params: z.ZodType, [summary, examples]: [string, Examples]): InboundMessage => ({
    summary,
    schema: z.object({ jsonrpc, ...(head.id && { id }), method: z.literal(method), params }),
    examples(ids) {
      const [first, ...others] = examples(ids);
      const shown = (example: TitledExample): MessageExample => ({
        title: example.title,
        frame: { jsonrpc: '2.0', ...head, method, params: example.params },
      });
      return [shown(first), ...others.map(shown)];
    },
  });
const request = message({ id: 1 });
const notification = message({});

const folder = '/home/ada/project';
const words = (text: string) => ({ type: 'text', text });

const inbound = (): Readonly<Record<string, InboundMessage>> => ({
  initialize: request('initialize', Initialize, [
    'Version and capabilities. A client of a higher version is answered with version 1. Needs no token.',
    () => [
      { title: 'Begin', params: { protocolVersion: 1, clientCapabilities: {} } },
      {
        title: 'Begin, with forms for questions',
        params: { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } },
      },
    ],
  ]),
  authenticate: request('authenticate', z.object({ methodId: z.string() }), [
    'The token comes with the connection: succeeds if it is valid. An editor with a terminal runs `parlance acp --login` there.',
    () => [{ title: 'Check the token', params: { methodId: 'token' } }],
  ]),
  'session/new': request('session/new', NewSession, [
    'Creates a session whose tools work in `cwd`: absolute, an existing folder, and the working directory of the server or inside of it. MCP servers of the client are not started.',
    () => [{ title: 'Create a session', params: { cwd: folder, mcpServers: [] } }],
  ]),
  'session/load': request('session/load', OpenSession, [
    'Opens a session of any dialect. Its history is sent first as `session/update`, then the response, then pending permission requests. It keeps the folder it was created in.',
    ({ session }) => [
      { title: 'Show a session', params: { sessionId: session, cwd: folder, mcpServers: [] } },
    ],
  ]),
  'session/resume': request('session/resume', OpenSession, [
    'The same, without the history.',
    ({ session }) => [
      { title: 'Resume a session', params: { sessionId: session, cwd: folder, mcpServers: [] } },
    ],
  ]),
  'session/list': request('session/list', ListSessions, [
    'The caller’s sessions, latest first, 50 at a time; with `cwd` those of that folder.',
    () => [{ title: 'List sessions', params: {} }],
  ]),
  'session/close': request('session/close', OneSession, [
    'Stops the updates of this session on this connection. The session is kept, and a running turn continues.',
    ({ session }) => [{ title: 'Close a session', params: { sessionId: session } }],
  ]),
  'session/delete': request('session/delete', OneSession, [
    'Permanently deletes a session and its events.',
    ({ session }) => [{ title: 'Delete a session', params: { sessionId: session } }],
  ]),
  'session/set_config_option': request('session/set_config_option', SetConfig, [
    'Changes the approval mode, the model or the agent of the session. The answer has all options.',
    ({ session }) => [
      { title: 'Choose a model', params: { sessionId: session, configId: 'model', value: 'offline' } },
    ],
  ]),
  'session/set_mode': request('session/set_mode', SetMode, [
    'Changes the approval mode of the session.',
    ({ session }) => [{ title: 'Allow edits', params: { sessionId: session, modeId: 'auto-edit' } }],
  ]),
  'session/prompt': request('session/prompt', Prompt, [
    'Starts a turn, or is queued behind the running one. Answered when the turn has ended.',
    ({ session }) => [
      { title: 'Send a message', params: { sessionId: session, prompt: [words('count to 20')] } },
      {
        title: 'Send a message with a link and a file',
        params: {
          sessionId: session,
          prompt: [
            words('what is this?'),
            { type: 'resource_link', name: 'main.ts', uri: 'file:///home/ada/project/main.ts' },
            { type: 'resource', resource: { uri: 'file:///home/ada/project/a.txt', text: 'hello' } },
          ],
        },
      },
    ],
  ]),
  'session/cancel': notification('session/cancel', OneSession, [
    'Ends the turn, even if it waits for a permission. Its prompt is answered with `cancelled`.',
    ({ session }) => [{ title: 'Stop', params: { sessionId: session } }],
  ]),
  '$/cancel_request': notification('$/cancel_request', CancelRequest, [
    'Cancels a prompt by the id of its request.',
    () => [{ title: 'Stop a request', params: { requestId: 1 } }],
  ]),
  result: {
    summary:
      'Answers `session/request_permission`; `cancelled` denies. Or answers `elicitation/create`; `decline` gives no answer, and after `cancel` the next prompt answers. The first answer wins, in any dialect.',
    schema: z.object({ jsonrpc, id, result: z.union([PermissionResult, FormResult]) }),
    examples: ({ approval, question }) => [
      {
        title: 'Allow a call',
        frame: {
          jsonrpc: '2.0',
          id: approval,
          result: { outcome: { outcome: 'selected', optionId: 'once' } },
        },
      },
      {
        title: 'Answer a question',
        frame: { jsonrpc: '2.0', id: question, result: { action: 'accept', content: { '1': 'PostgreSQL' } } },
      },
    ],
  },
});

// Out

const session = '3f0c1a52-6d0e-4b8e-9a55-0c5f6f2f9d10';
const approval = 'b7d6a3de-0c44-4f0c-9f5e-3a1c8d2e6f70';
const question = '4d2b8c6e-1f3a-4e57-9b0c-7a6d5e4f3c21';

function outbound() {
  const text = z.strictObject({ type: z.literal('text'), text: z.string() });
  const content = z.union([
    text,
    z.strictObject({ type: z.literal('image'), mimeType: z.string(), data: z.string() }),
    z.strictObject({
      type: z.literal('resource'),
      resource: z.strictObject({ uri: z.string(), mimeType: z.string(), blob: z.string() }),
    }),
  ]);
  const callContent = z.array(
    z.union([
      z.strictObject({ type: z.literal('content'), content }),
      z.strictObject({
        type: z.literal('diff'),
        path: z.string(),
        oldText: z.string().nullable(),
        newText: z.string(),
      }),
    ]),
  );
  const call = {
    toolCallId: z.string(),
    title: z.string(),
    name: z.string(),
    kind: z.enum(['read', 'edit', 'execute', 'search', 'fetch', 'think', 'other']),
    status: z.literal('pending'),
    rawInput: z.record(z.string(), z.unknown()),
    locations: z.array(z.strictObject({ path: z.string() })).optional(),
    content: callContent.optional(),
  };
  const kind = <Kind extends string>(name: Kind) => z.literal(name);

  const update = z.union([
    z.strictObject({
      sessionUpdate: z.enum(['user_message_chunk', 'agent_message_chunk', 'agent_thought_chunk']),
      content,
      messageId: z.string(),
    }),
    z.strictObject({ sessionUpdate: kind('tool_call'), ...call }),
    z.strictObject({
      sessionUpdate: kind('tool_call_update'),
      toolCallId: z.string(),
      status: z.enum(['in_progress', 'completed', 'failed']),
      title: z.string().optional(),
      content: callContent.optional(),
      rawOutput: z.unknown().optional(),
    }),
    z.strictObject({
      sessionUpdate: kind('plan'),
      entries: z.array(
        z.strictObject({
          content: z.string(),
          priority: z.literal('medium'),
          status: z.enum(['pending', 'in_progress', 'completed']),
        }),
      ),
    }),
    z.strictObject({ sessionUpdate: kind('session_info_update'), title: z.string(), updatedAt: z.string() }),
    z.strictObject({ sessionUpdate: kind('current_mode_update'), currentModeId: z.string() }),
    z.strictObject({ sessionUpdate: kind('usage_update'), used: z.number(), size: z.number() }),
  ]);

  return {
    'session/update': {
      summary:
        'Updates of a session that is open on this connection: messages of others and of the agent, thoughts, calls, the plan, the title, the mode, the context usage. Text is streamed; chunks of one message have the same `messageId`.',
      schema: z.strictObject({
        jsonrpc,
        method: z.literal('session/update'),
        params: z.strictObject({
          sessionId: z.string(),
          update,
          _meta: z.strictObject({ 'parlance/seq': z.number() }).optional(),
        }),
      }),
      example: {
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: session,
          update: {
            sessionUpdate: 'agent_message_chunk',
            content: { type: 'text', text: '1, 2, 3' },
            messageId: '44ab52b9-43e1-4800-8f88-71b35ba199d1',
          },
        },
      },
    },
    'session/request_permission': {
      summary:
        'A call needs approval; the id of the request is the approval’s. Sent to every connection that has the session open.',
      schema: z.strictObject({
        jsonrpc,
        id: z.string(),
        method: z.literal('session/request_permission'),
        params: z.strictObject({
          sessionId: z.string(),
          toolCall: z.strictObject(call),
          options: z.array(
            z.strictObject({
              optionId: z.enum(['once', 'always', 'deny']),
              name: z.string(),
              kind: z.enum(['allow_once', 'allow_always', 'reject_once']),
            }),
          ),
        }),
      }),
      example: {
        jsonrpc: '2.0',
        id: approval,
        method: 'session/request_permission',
        params: {
          sessionId: session,
          toolCall: {
            toolCallId: 'call_1',
            title: 'touch hello.txt',
            name: 'shell',
            kind: 'execute',
            status: 'pending',
            rawInput: { command: ['touch', 'hello.txt'] },
          },
          options: [
            { optionId: 'once', name: 'Allow', kind: 'allow_once' },
            { optionId: 'deny', name: 'Reject', kind: 'reject_once' },
          ],
        },
      },
      ids: [
        { id: 'approval', at: 'id' },
        { id: 'session', at: 'params.sessionId' },
        { id: 'call', at: 'params.toolCall.toolCallId' },
      ],
    },
    'elicitation/create': {
      summary:
        'The agent asks the user; the id of the request is the question’s. Sent to every connection that has the session open and shows forms. Others get the question as a message.',
      schema: z.strictObject({
        jsonrpc,
        id: z.string(),
        method: z.literal('elicitation/create'),
        params: z.strictObject({
          sessionId: z.string(),
          toolCallId: z.string().optional(),
          mode: z.literal('form'),
          message: z.string(),
          requestedSchema: z.strictObject({
            type: z.literal('object'),
            properties: z.record(z.string(), z.looseObject({ type: z.string() })),
            required: z.array(z.string()),
          }),
        }),
      }),
      example: {
        jsonrpc: '2.0',
        id: question,
        method: 'elicitation/create',
        params: {
          sessionId: session,
          toolCallId: 'call_1',
          mode: 'form',
          message: 'Which database?',
          requestedSchema: {
            type: 'object',
            properties: {
              '1': {
                title: 'Database',
                description: 'Which database?',
                type: 'string',
                enum: ['SQLite', 'PostgreSQL'],
              },
            },
            required: ['1'],
          },
        },
      },
      ids: [
        { id: 'question', at: 'id' },
        { id: 'session', at: 'params.sessionId' },
      ],
    },
    '$/cancel_request': {
      summary:
        'The permission or the question was answered elsewhere, or the turn has ended: the request no longer needs an answer.',
      schema: z.strictObject({
        jsonrpc,
        method: z.literal('$/cancel_request'),
        params: z.strictObject({ requestId: z.string() }),
      }),
      example: { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: approval } },
    },
    result: {
      summary: 'The answer to a request of the client.',
      schema: z.strictObject({ jsonrpc, id, result: z.record(z.string(), z.unknown()) }),
      example: { jsonrpc: '2.0', id: 1, result: { stopReason: 'end_turn' } },
      ids: [{ id: 'session', at: 'result.sessionId' }],
    },
    error: {
      summary: 'A request or message was refused, or the turn of a prompt failed.',
      schema: z.strictObject({
        jsonrpc,
        id,
        error: z.strictObject({ code: z.number(), message: z.string() }),
      }),
      example: { jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'There is no such session.' } },
    },
  } satisfies OutboundMessages;
}

/** Messages that the server sends unrequested. The id of a permission request is that of the approval, of a form that of the question. */
export type Body = Extract<BodyOf<typeof outbound>, { method: string }>;
type ParamsOf<Method extends Body['method']> = Extract<Body, { method: Method }>['params'];

/** The build fails if the messages do not fit the types of the official package. */
type Fits<Official, Own extends Frozen<Official>> = Own;
export type Update = Fits<SessionNotification, ParamsOf<'session/update'>>['update'];
export type Permission = Fits<RequestPermissionRequest, ParamsOf<'session/request_permission'>>;

export type Form = Fits<CreateElicitationRequest, ParamsOf<'elicitation/create'>>;

export type Call = Permission['toolCall'];
export type CallContent = NonNullable<Call['content']>[number];
export type Chunk = Extract<Update, { messageId: string }>;

export const description = (): Description => ({
  title: 'Editor',
  summary:
    'Editors that speak the Agent Client Protocol (Zed, JetBrains IDEs, …), version 1: JSON-RPC 2.0, one message per frame.',
  note: 'Editors start `parlance acp`, which connects their standard input and output with the server at PARLANCE_URL. Without that variable it runs its own agent, with the settings of `parlance serve`.',
  scripts: [
    {
      title: 'Zed: settings.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "type": "custom",
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'JetBrains IDEs: ~/.jetbrains/acp.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'The TypeScript SDK',
      language: 'ts',
      code: `import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const agent = spawn('parlance', ['acp'], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: { ...process.env, PARLANCE_URL: '{{origin}}' },
});
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

await client({ name: 'example' })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: 'cancelled' } }))
  .onNotification(methods.client.session.update, ({ params }) => console.log(params.update))
  .connectWith(stream, async (server) => {
    await server.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await server.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: 'text', text: 'count to 20' }];
    console.log(await server.request(methods.agent.session.prompt, { sessionId, prompt }));
  });`,
    },
  ],
  socket: { nameField: 'method' },
  messages: { in: inbound(), out: outbound() },
});
