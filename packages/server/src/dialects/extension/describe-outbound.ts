/** Describes the frames that the server sends. */
import { z } from 'zod';
import type { OutboundMessage } from '../shared/description.ts';
import type { Body } from './bodies.ts';

const text = z.string();
const stamp = { id: text.describe('`msg_<milliseconds>_<nine characters>`'), timestamp: z.number() };

const frame = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.strictObject({ ...stamp, type: z.literal(type), ...shape });

const exampleOf = (type: Body['type'], rest: object) => ({
  id: 'msg_1700000000000_abcdefghi',
  timestamp: 1_700_000_000_000,
  type,
  ...rest,
});
const sessionId = 'demo';
const executionId = 'exec_1700000000000_abcdefghi';
const capabilities = [
  'chat',
  'agent_processing',
  'tool_orchestration',
  'multi_client_support',
  'real_time_status',
];

export const outbound: Readonly<Record<Body['type'], OutboundMessage>> = {
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
      capabilities,
      serverCapabilities: capabilities,
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
};
