import { z } from 'zod';
import {
  type Description,
  type ExampleIds,
  type InboundMessage,
  named,
  type OutboundMessage,
  typed,
} from '../kit/description.ts';

import { type Body, Chat, type KNOWN_TYPES } from './schemas.ts';

// Describes the frames of the contract.

const chat = (ids: ExampleIds, message: string) => ({ type: 'chat', message, session_id: ids.session });

const inbound: Readonly<Record<(typeof KNOWN_TYPES)[number], InboundMessage>> = {
  chat: {
    summary:
      'A message to the agent. Both fields are trimmed; if `session_id` is blank, null or absent, the conversation lasts as long as the socket. If an approval waits in the session, a message that is just yes or no answers it.',
    schema: typed('chat', Chat),
    examples: (ids) => [
      { title: 'Send a message', endedBy: 'agent_message', frame: chat(ids, 'count to 20') },
      {
        title: 'Ask for a command that needs approval',
        endedBy: 'agent_message',
        frame: chat(ids, 'run touch hello.txt'),
      },
      { title: 'Answer an approval: yes or no', endedBy: 'agent_message', frame: chat(ids, 'yes') },
    ],
  },
};

const session_id = z.string().optional().describe('absent if the client did not name the session');
const example = { session_id: 'demo' };

const frame = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.strictObject({ ...shape, type: z.literal(type), session_id });

const SCHEMAS = {
  user_message: frame('user_message', { message: z.string() }),
  agent_thinking: frame('agent_thinking', { reasoning: z.string() }),
  tool_call: frame('tool_call', { tool_name: z.string(), tool_args: z.string().describe('JSON') }),
  tool_result: frame('tool_result', {
    tool_name: z.string(),
    result: z.string(),
    tool_result: z.string().describe('the same as `result`: some pages read this field'),
    success: z
      .boolean()
      .describe('false if the call failed, was denied or aborted, or its outcome is unknown'),
  }),
  agent_message: frame('agent_message', { message: z.string() }),
  error: frame('error', { error: z.string(), retry_after: z.number().optional().describe('seconds') }),
};

const outbound: Readonly<Record<Body['type'], OutboundMessage>> = {
  user_message: {
    summary: 'A turn starts: the message it is about. Also the yes or no that answered an approval.',
    schema: SCHEMAS.user_message,
    example: { type: 'user_message', message: 'count to 3', ...example },
  },
  agent_thinking: {
    summary: 'A complete reasoning block, text before a call, an approval that waits, or a handoff.',
    schema: SCHEMAS.agent_thinking,
    example: { type: 'agent_thinking', reasoning: 'They want me to count.', ...example },
  },
  tool_call: {
    summary: 'A call starts, after its approval if it needed one.',
    schema: SCHEMAS.tool_call,
    example: { type: 'tool_call', tool_name: 'shell', tool_args: '{"command":["ls"]}', ...example },
  },
  tool_result: {
    summary: 'The outcome of a call.',
    schema: SCHEMAS.tool_result,
    example: {
      type: 'tool_result',
      tool_name: 'shell',
      result: 'README.md',
      tool_result: 'README.md',
      success: true,
      ...example,
    },
  },
  agent_message: {
    summary:
      'The turn has ended: one for each turn that does not fail. Also the question of an approval, which does not end the turn.',
    schema: SCHEMAS.agent_message,
    example: { type: 'agent_message', message: '1 2 3', ...example },
  },
  error: {
    summary: 'A message was refused, or the turn failed or was cancelled.',
    schema: SCHEMAS.error,
    example: { type: 'error', error: 'Empty message received' },
  },
};

const Health = named('BroadcastHealth', z.object({ status: z.literal('ok') }));
const Refusal = named('BroadcastRefusal', z.object({ error: z.string(), detail: z.string() }));
const Settings = named('BroadcastConfig', z.object({ max_iterations: z.number(), working_dir: z.string() }));

export const description: Description = {
  title: 'Chat page',
  summary: 'Simple chat pages and REPLs: send a message, receive everything that happens, over a WebSocket.',
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound, out: outbound },
  endpoints: [
    {
      method: 'get',
      path: '/api/health',
      summary: 'Liveness',
      security: 'nobody',
      answers: { 200: { description: 'Alive', schema: Health } },
    },
    {
      method: 'get',
      path: '/api/config',
      summary: 'Settings for chat pages',
      security: 'caller',
      answers: {
        200: { description: 'The settings', schema: Settings },
        401: { description: 'A token is required', schema: Refusal },
      },
    },
  ],
};
