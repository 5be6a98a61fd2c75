/** The frames of the contract, in and out, with examples. */
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

const text = (field: string) =>
  z
    .string(`${field} must be a string`)
    .nullish()
    .transform((value) => value?.trim() ?? '');

/** The only frame of clients. Without a `session_id`, or with a blank one, the conversation lasts as long as the socket. */
export const Chat = z.object({ message: text('message'), session_id: text('session_id') });

const chat = (ids: ExampleIds, message: string) => ({ type: 'chat', message, session_id: ids.session });

const inbound = (): Readonly<Record<'chat', InboundMessage>> => ({
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
});

// Out

const frame = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.strictObject({
    ...shape,
    type: z.literal(type),
    session_id: z.string().optional().describe('absent if the client did not name the session'),
  });
const example = { session_id: 'demo' };

const outbound = () =>
  ({
    user_message: {
      summary: 'A turn starts: the message it is about. Also the yes or no that answered an approval.',
      schema: frame('user_message', { message: z.string() }),
      example: { type: 'user_message', message: 'count to 3', ...example },
    },
    agent_thinking: {
      summary: 'A complete reasoning block, text before a call, an approval that waits, or a handoff.',
      schema: frame('agent_thinking', { reasoning: z.string() }),
      example: { type: 'agent_thinking', reasoning: 'They want me to count.', ...example },
    },
    tool_call: {
      summary: 'A call starts, after its approval if it needed one.',
      schema: frame('tool_call', { tool_name: z.string(), tool_args: z.string().describe('JSON') }),
      example: { type: 'tool_call', tool_name: 'shell', tool_args: '{"command":["ls"]}', ...example },
    },
    tool_result: {
      summary: 'The outcome of a call.',
      schema: frame('tool_result', {
        tool_name: z.string(),
        result: z.string(),
        tool_result: z.string().describe('the same as `result`: some pages read this field'),
        success: z
          .boolean()
          .describe('false if the call failed, was denied or aborted, or its outcome is unknown'),
      }),
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
      schema: frame('agent_message', { message: z.string() }),
      example: { type: 'agent_message', message: '1 2 3', ...example },
    },
    error: {
      summary: 'A message was refused, or the turn failed or was cancelled.',
      schema: frame('error', {
        error: z.string(),
        retry_after: z.number().optional().describe('seconds'),
      }),
      example: { type: 'error', error: 'Empty message received' },
    },
  }) satisfies OutboundMessages;

export type Body = BodyOf<typeof outbound>;

export const schemas = () => ({
  Health: named('BroadcastHealth', z.object({ status: z.literal('ok') })),
  Settings: named('BroadcastConfig', z.object({ max_iterations: z.number(), working_dir: z.string() })),
});

export const description = (): Description => ({
  title: 'Chat page',
  summary: 'Simple chat pages and REPLs: send a message, receive everything that happens, over a WebSocket.',
  socket: { nameField: 'type' },
  messages: { in: inbound(), out: outbound() },
  schemas: schemas(),
  errors: {
    401: {
      description: 'A token is required',
      schema: named('BroadcastRefusal', z.object({ error: z.string(), detail: z.string() })),
    },
  },
});
