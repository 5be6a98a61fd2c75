/** Describes the messages that the server sends. */
import { z } from 'zod';
import type { OutboundMessage } from '../kit/description.ts';

const jsonrpc = z.literal('2.0');
const id = z.union([z.string(), z.number(), z.null()]);
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

const session = '3f0c1a52-6d0e-4b8e-9a55-0c5f6f2f9d10';
const approval = 'b7d6a3de-0c44-4f0c-9f5e-3a1c8d2e6f70';

export const outbound: Readonly<Record<string, OutboundMessage>> = {
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
  '$/cancel_request': {
    summary:
      'The permission was answered elsewhere, or the turn has ended: the request no longer needs an answer.',
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
};
