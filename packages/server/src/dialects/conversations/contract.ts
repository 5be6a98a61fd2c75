/** The frames of the WebSocket with examples, and the bodies of the REST endpoints. */
import { ApprovalId, Permission, Role } from '@parlance/protocol';
import { Token } from '@parlance/protocol/api';
import { z } from 'zod';
import {
  type BodyOf,
  type Description,
  type ExampleIds,
  errorAnswers,
  type InboundMessage,
  named,
  type OutboundMessages,
  typed,
} from '../kit/description.ts';

// WebSocket, in

/** All types of client frames. */
export const KNOWN_TYPES = [
  'PING',
  'start_conversation',
  'send_message',
  'cancel_stream',
  'approve_tool',
] as const;
export type KnownType = (typeof KNOWN_TYPES)[number];

export const isKnown = (type: string): type is KnownType => KNOWN_TYPES.some((known) => known === type);

const Name = z.string().min(1);

export const StartConversation = z.object({ payload: z.object({ domainId: Name }) });

export const SendMessage = z.object({
  conversationId: Name,
  payload: z.object({ content: z.string().trim().min(1) }),
});

export const CancelStream = z.object({ conversationId: Name });

/** The request id alone selects the approval; a `conversationId` is ignored. */
export const ApproveTool = z.object({
  requestId: ApprovalId,
  payload: z.object({ approved: z.boolean(), reason: z.string().trim().max(10_000).nullish() }),
});

const send = ({ session }: ExampleIds, content: string) => ({
  type: 'send_message',
  conversationId: session,
  payload: { content },
});

const start = (domainId: string) => ({ type: 'start_conversation', payload: { domainId } });

const answer = ({ session, approval }: ExampleIds, payload: object) => ({
  type: 'approve_tool',
  conversationId: session,
  requestId: approval,
  payload,
});

const inbound = (): Readonly<Record<KnownType, InboundMessage>> => ({
  PING: {
    summary: 'Answered with exactly `{"type":"PONG"}`.',
    schema: z.object({ type: z.literal('PING') }),
    examples: () => [{ title: 'Ping', frame: { type: 'PING' } }],
  },
  start_conversation: {
    summary: 'Starts a conversation in a domain: `conversation_started` once it is stored.',
    schema: typed('start_conversation', StartConversation),
    examples: ({ session }) => [
      { title: 'Start a conversation', frame: start('software_development') },
      { title: 'Start one in a domain that does not exist', probe: true, frame: start(session) },
      {
        title: 'Start one with an id, which is ignored',
        probe: true,
        frame: { ...start('general'), conversationId: session },
      },
    ],
  },
  send_message: {
    summary:
      'A message in any conversation of the user, created in any dialect; `temp-…` creates one in the default domain under that id. A running turn is cancelled first. `/tool <id> <JSON object>` calls the tool without the model: `tool_executed`, then `message_chunk` and `message_complete` with the result as `content`, even if it failed or was rejected.',
    schema: typed('send_message', SendMessage),
    examples: (ids) => [
      { title: 'Send a message', frame: send(ids, 'count to 20') },
      { title: 'Ask for a command that needs approval', frame: send(ids, 'run touch hello.txt') },
      {
        title: 'Call a tool by name, without the model',
        frame: send(ids, '/tool save_file {"path": "hello.txt", "content": "Hello"}'),
      },
      {
        title: 'Start a conversation with a message',
        first: true,
        frame: { ...send(ids, 'echo hello'), conversationId: `temp-${ids.session}` },
        endedBy: 'message_complete',
      },
    ],
  },
  cancel_stream: {
    summary: 'Cancels the running turn: `error` cancelled to every socket in the conversation, once.',
    schema: typed('cancel_stream', CancelStream),
    examples: ({ session }) => [
      { title: 'Stop the answer', frame: { type: 'cancel_stream', conversationId: session } },
    ],
  },
  approve_tool: {
    summary:
      'Answers a `tool_approval_required`: `requestId` identifies it, `conversationId` is ignored. The first answer wins, in any dialect; an approval applies to this one call. A late answer gets `tool_execute_failed`, even after a restart.',
    schema: typed('approve_tool', ApproveTool),
    examples: (ids) => [
      { title: 'Approve a tool', frame: answer(ids, { approved: true }) },
      {
        title: 'Reject a tool with a reason',
        frame: answer(ids, { approved: false, reason: 'Not this file.' }),
      },
    ],
  },
});

// WebSocket, out: the contract, and extensions of it

const conversationId = 'demo';
const coder = { agentId: 'coder', agentName: 'Coder' };
const measured = { tokenCount: 12, durationMs: 840 };
const exampleOf = (type: string, payload: object) => ({ type, conversationId, payload });

function outbound() {
  const text = z.string();
  const agentFields = { agentId: text, agentName: text };
  const measures = { tokenCount: z.number(), durationMs: z.number() };
  const data = z.record(z.string(), z.json());

  const frame = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
    z.strictObject({ type: z.literal(type), conversationId: text, payload: z.strictObject(shape) });

  return {
    PONG: {
      summary: 'The answer to `PING`.',
      schema: z.strictObject({ type: z.literal('PONG') }),
      example: { type: 'PONG' },
    },
    conversation_started: {
      summary: 'The answer to `start_conversation`, and to a message that started a conversation.',
      schema: z.strictObject({
        type: z.literal('conversation_started'),
        payload: z.strictObject({ conversationId: text, domainId: text, activeAgent: text }),
      }),
      example: {
        type: 'conversation_started',
        payload: { conversationId, domainId: 'software_development', activeAgent: 'coder' },
      },
      ids: [{ id: 'session', at: 'payload.conversationId' }],
    },
    agent_selected: {
      summary: 'The agent that answers: a turn starts, or another agent takes over.',
      schema: z.strictObject({
        type: z.literal('agent_selected'),
        conversationId: text,
        agent_id: text,
        agent_name: text,
      }),
      example: { type: 'agent_selected', conversationId, agent_id: 'coder', agent_name: 'Coder' },
    },
    workflow_step_start: {
      summary: 'An agent starts to work.',
      schema: frame('workflow_step_start', { ...agentFields, timestamp: z.iso.datetime() }),
      example: exampleOf('workflow_step_start', { ...coder, timestamp: '2026-01-01T00:00:00.000Z' }),
    },
    workflow_step_complete: {
      summary: 'An agent has finished its part of the turn.',
      schema: frame('workflow_step_complete', { ...agentFields, ...measures }),
      example: exampleOf('workflow_step_complete', { ...coder, ...measured }),
    },
    workflow_thought: {
      summary: 'A complete reasoning block, the explanation of a call, or a retry.',
      schema: frame('workflow_thought', { ...agentFields, reason: text }),
      example: exampleOf('workflow_thought', { ...coder, reason: 'They want me to count.' }),
    },
    workflow_handoff: {
      summary:
        'The agent changes: after `workflow_step_complete` of the old one, before `agent_selected` of the new one.',
      schema: frame('workflow_handoff', {
        fromAgent: text,
        toAgent: text,
        fromAgentId: text,
        toAgentId: text,
        reason: text,
      }),
      example: exampleOf('workflow_handoff', {
        fromAgent: 'Coder',
        toAgent: 'Tester',
        fromAgentId: 'coder',
        toAgentId: 'tester',
        reason: 'It needs tests',
      }),
    },
    message_chunk: {
      summary:
        'Text as it streams. All chunks of an answer have one `messageId`; joined they are its `content`. An empty line separates blocks of text.',
      schema: frame('message_chunk', { messageId: text, chunk: text, agentName: text }),
      example: exampleOf('message_chunk', { messageId: 'turn_1', chunk: '1 2', agentName: 'Coder' }),
    },
    message_discarded: {
      summary:
        'Everything sent under this `messageId` is discarded: the answer starts again under another one.',
      schema: frame('message_discarded', { messageId: text, reason: text }),
      example: exampleOf('message_discarded', {
        messageId: 'turn_1',
        reason: "The model's stream ended early.",
      }),
    },
    message_complete: {
      summary: 'The answer is complete. `tokenCount` is the number of output tokens.',
      schema: frame('message_complete', {
        ...agentFields,
        messageId: text,
        content: text,
        metadata: z.strictObject(measures),
      }),
      example: exampleOf('message_complete', {
        ...coder,
        messageId: 'turn_1',
        content: '1 2 3',
        metadata: measured,
      }),
    },
    tool_approval_required: {
      summary: 'A call waits for an approval.',
      schema: frame('tool_approval_required', {
        requestId: text,
        toolName: text,
        toolArgs: data,
        description: text,
        agentName: text,
      }),
      example: exampleOf('tool_approval_required', {
        requestId: 'approval_1',
        toolName: 'shell',
        toolArgs: { command: ['touch', 'hello.txt'] },
        description: 'Run touch hello.txt',
        agentName: 'Coder',
      }),
      ids: [{ id: 'approval', at: 'payload.requestId' }],
    },
    tool_executed: {
      summary:
        'The outcome of a call. `requestId` is that of the approval, or the id of the call if it needed none. `result` is the data of the tool, or `{output}`.',
      schema: frame('tool_executed', {
        requestId: text,
        toolName: text,
        result: data,
        success: z.boolean(),
        errorMessage: text.nullable(),
      }),
      example: exampleOf('tool_executed', {
        requestId: 'approval_1',
        toolName: 'shell',
        result: { output: '', exit_code: 0 },
        success: true,
        errorMessage: null,
      }),
    },
    error: {
      summary: 'A message was refused, or the turn failed or was cancelled.',
      schema: z.strictObject({
        type: z.literal('error'),
        conversationId: text.optional(),
        error: text,
        payload: z.strictObject({
          code: z.enum([
            'bad_request',
            'forbidden',
            'not_found',
            'stream_error',
            'cancelled',
            'rejected',
            'tool_request_failed',
            'tool_execute_failed',
          ]),
          message: text,
          error: text.describe('the same as `message`'),
          retryAfter: z.number().optional().describe('seconds'),
        }),
      }),
      example: {
        type: 'error',
        conversationId,
        error: 'Stream cancelled',
        payload: { code: 'cancelled', message: 'Stream cancelled', error: 'Stream cancelled' },
      },
    },
  } satisfies OutboundMessages;
}

export type Body = BodyOf<typeof outbound>;
export type ErrorCode = Extract<Body, { type: 'error' }>['payload']['code'];
export type Measures = Extract<Body, { type: 'message_complete' }>['payload']['metadata'];

// REST: requests

export const MAX_MESSAGES = 1_000;

export const Credentials = named(
  'Credentials',
  z.object({
    username: z.string().min(1).max(1_000),
    password: z.string().min(1).max(1_000),
  }),
);

export const NewConversation = named(
  'NewConversation',
  z.object({
    domain_id: z.string().min(1),
    agent_id: z.string().min(1).nullish(),
  }),
);

const upTo = (max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(1).max(max));

/** An empty parameter counts as absent. */
const filled = z
  .string()
  .transform((text) => text || undefined)
  .optional();

export const ListQuery = z.object({ limit: upTo(100).default(20), cursor: filled, domain_id: filled });
export const AgentsQuery = z.object({ domain_id: filled });
export const ToolRunsQuery = z.object({ limit: upTo(100).default(20) });
export const WorkflowLogsQuery = z.object({ limit: upTo(MAX_MESSAGES).default(100) });
export const MessagesQuery = z.object({ limit: upTo(MAX_MESSAGES).default(100) });

// REST: answers. Only documents and tests build the schemas.

export function schemas() {
  const Me = named('Me', z.object({ sub: z.string(), role: Role, perms: z.array(Permission) }));

  const Domain = named(
    'Domain',
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      default_agent: z.string(),
      agents: z.array(z.string()),
    }),
  );
  const Domains = z.array(Domain);
  const Agent = named(
    'Agent',
    z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      domain_id: z.string().nullable().describe('the requested domain, or the first one'),
      domain_ids: z.array(z.string()),
      tools: z.array(z.string()),
      version: z.string().describe('the version of the server'),
      state: z.literal('ready'),
    }),
  );
  const Agents = z.array(Agent);
  const Tools = z.array(
    named(
      'Tool',
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        parameters: z.record(z.string(), z.json()).describe('a JSON Schema'),
        requires_approval: z.boolean(),
        allowed_roles: z.array(Role),
      }),
    ),
  );

  const Message = named(
    'Message',
    z.object({
      id: z.string(),
      conversation_id: z.string(),
      role: z.enum(['user', 'assistant']),
      content: z.string(),
      created_at: z.iso.datetime(),
      metadata: z.object({
        dialect: z.string().optional(),
        interrupted: z.boolean().optional(),
        imported: z.boolean().optional().describe('imported from elsewhere when the session was created'),
      }),
      agent_id: z.string().nullable(),
    }),
  );
  const Messages = z.array(Message);

  const Conversation = named(
    'Conversation',
    z.object({
      id: z.string(),
      domain_id: z.string(),
      agent_id: z.string().describe('the current agent'),
      created_by_role: Role.nullable().describe('null if it belongs to another user'),
      created_by_sub: z.string(),
      title: z.string(),
      status: z.enum(['idle', 'running', 'waiting', 'failed']),
      created_at: z.iso.datetime(),
      updated_at: z.iso.datetime(),
      metadata: z.object({ dialect: z.string(), active_agent: z.string() }),
      messages: z.array(Message),
    }),
  );
  const Conversations = z.array(Conversation);

  const Detail = named('Detail', z.object({ detail: z.string() }));

  const WorkflowLogs = z.array(
    named(
      'WorkflowLog',
      z.object({
        id: z.string(),
        conversation_id: z.string(),
        type: z.enum([
          'workflow_step_start',
          'workflow_step_complete',
          'workflow_thought',
          'workflow_handoff',
        ]),
        payload: z.record(z.string(), z.json()).describe('the payload of the frame'),
        created_at: z.iso.datetime(),
      }),
    ),
  );

  const ToolRun = named(
    'ToolRun',
    z.object({
      id: z.string().describe('the requestId of its frames, if it is unique'),
      tool_id: z.string(),
      status: z.enum([
        'pending',
        'pending_approval',
        'approved',
        'running',
        'completed',
        'failed',
        'rejected',
        'cancelled',
        'unknown',
      ]),
      requested_by: z.string(),
      parameters: z.record(z.string(), z.json()),
      result: z.record(z.string(), z.json()).nullable(),
      created_at: z.iso.datetime(),
      conversation_id: z.string(),
    }),
  );
  const ToolRuns = z.array(ToolRun);

  const HealthStatus = z.enum(['ok', 'unavailable']);
  const ServerHealth = named('ServerHealth', z.object({ status: HealthStatus, timestamp: z.iso.datetime() }));
  const HealthDetails = named(
    'HealthDetails',
    z.object({
      status: HealthStatus,
      reason: z.string().nullable(),
      detail: z.string().nullable(),
      timestamp: z.iso.datetime(),
      version: z.string(),
      uptime_seconds: z.int(),
      provider: z.string(),
      model: z.string(),
      sandbox: z.boolean(),
      listeners: z.array(z.object({ dialect: z.string(), port: z.int() })),
    }),
  );
  const Figures = named(
    'Figures',
    z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])),
  );

  return {
    Agent,
    Agents,
    Conversation,
    Conversations,
    Detail,
    Domain,
    Domains,
    Figures,
    HealthDetails,
    Me,
    Messages,
    ServerHealth,
    Token,
    ToolRun,
    ToolRuns,
    Tools,
    WorkflowLogs,
  };
}

type Schemas = ReturnType<typeof schemas>;
export type Message = z.output<Schemas['Messages']>[number];
export type ToolRun = z.output<Schemas['ToolRun']>;
export type WorkflowLog = z.output<Schemas['WorkflowLogs']>[number];

export function description(): Description {
  const answers = schemas();
  return {
    title: 'Conversations',
    summary: 'Chat applications with logins, domains and agents: REST, and a WebSocket for the conversation.',
    note: 'Always needs a token, even in open mode.',
    needsToken: true,
    socket: { nameField: 'type' },
    messages: { in: inbound(), out: outbound() },
    schemas: answers,
    errors: errorAnswers(
      {
        401: 'Missing or invalid token, or wrong password',
        403: 'The role lacks the permission',
        404: 'Not found, or it belongs to another user',
        422: 'Invalid request; the text names the field',
        429: 'Too many failed logins; Retry-After is in seconds',
      },
      { schema: answers.Detail },
    ),
  };
}
