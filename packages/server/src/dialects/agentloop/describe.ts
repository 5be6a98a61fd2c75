import { z } from 'zod';
import type { Description, ExampleIds, InboundMessage, OutboundMessage } from '../kit/description.ts';
import type { Body } from './bodies.ts';
import { ClientFrame } from './schemas.ts';

// Describes the frames that the server sends.

const id = z.string();
const content = z.array(z.strictObject({ type: z.enum(['input_text', 'output_text']), text: z.string() }));
const output = z.string().describe('JSON: {output, metadata: {exit_code, duration_seconds}}');

const ITEM = z.discriminatedUnion('type', [
  z.strictObject({
    id: id.describe('pieces of one answer share an id; append them'),
    type: z.literal('message'),
    role: z.enum(['assistant', 'user', 'system']),
    content,
  }),
  z.strictObject({ id, type: z.literal('reasoning'), content, duration_ms: z.number() }),
  z.strictObject({
    id,
    type: z.literal('function_call'),
    call_id: z.string(),
    name: z.string(),
    arguments: z.string().describe('JSON'),
  }),
  z.strictObject({ id, type: z.literal('function_call_output'), call_id: z.string(), output }),
  z.strictObject({
    id,
    type: z.literal('local_shell_call'),
    call_id: z.string(),
    action: z.record(z.string(), z.json()),
    status: z.literal('completed'),
  }),
  z.strictObject({ id, type: z.literal('local_shell_call_output'), call_id: z.string(), output }),
]);

const strategy = z.enum(['ThresholdContextManager', 'NoContextManager']);
const frame = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) =>
  z.strictObject({ id, type: z.literal(type), payload });

const SCHEMAS = {
  response_item: frame('response_item', ITEM),
  loading_state: frame('loading_state', z.strictObject({ loading: z.boolean() })),
  approval_request: frame(
    'approval_request',
    z.strictObject({
      command: z.array(z.string()),
      applyPatch: z.strictObject({ patch: z.string() }).optional(),
      requestId: z.string(),
    }),
  ),
  agent_finished: frame(
    'agent_finished',
    z.strictObject({
      responseId: z.string().describe('names the session: `previousResponseId` of a later input'),
      sessionId: z.string(),
    }),
  ),
  context_info: frame(
    'context_info',
    z.strictObject({
      tokenCount: z.number(),
      usagePercent: z.number(),
      transcriptLength: z.number(),
      maxTokens: z.number(),
      strategy,
      sessionId: z.string().optional().describe('absent before the first input'),
    }),
  ),
  context_compacted: frame(
    'context_compacted',
    z.strictObject({
      oldTokenCount: z.number(),
      newTokenCount: z.number(),
      reductionPercent: z.number(),
      strategy,
      sessionId: z.string(),
    }),
  ),
  error: frame(
    'error',
    z.strictObject({
      message: z.string(),
      details: z
        .strictObject({
          error: z.string(),
          code: z.number().describe('the HTTP status of the same failure'),
          retryAfter: z.number().optional().describe('seconds'),
        })
        .nullable(),
    }),
  ),
};

const text = (type: 'input_text' | 'output_text', words: string) => [{ type, text: words }];

const outbound: Readonly<Record<Body['type'], OutboundMessage>> = {
  response_item: {
    summary:
      'An item of the conversation. `message`: text as it streams, many items with the same payload `id`, each with only the new text, the last one with a line break if the text has none at its end; role `user` is a turn started by another client, role `system` a failure, a retried model call or a change of agent. `reasoning`: a complete block. `function_call` and `function_call_output`: a call starts (after its approval) and has its outcome; `local_shell_call` and `local_shell_call_output`: the same for `local_shell`, both when the call has ended.',
    schema: SCHEMAS.response_item,
    example: {
      id: '2',
      type: 'response_item',
      payload: { id: 'block_1', type: 'message', role: 'assistant', content: text('output_text', '1 2 3') },
    },
  },
  loading_state: {
    summary: 'A turn starts or ends.',
    schema: SCHEMAS.loading_state,
    example: { id: '1', type: 'loading_state', payload: { loading: true } },
  },
  approval_request: {
    summary:
      'A call needs approval. For a patch, `command` is `["apply_patch", "<patch>"]` and `applyPatch` is `{patch}`; if it overwrites existing files, a `response_item` of role `system` before it names them.',
    schema: SCHEMAS.approval_request,
    example: {
      id: '3',
      type: 'approval_request',
      payload: { command: ['touch', 'hello.txt'], requestId: 'approval_1' },
    },
  },
  agent_finished: {
    summary: 'The turn has ended; not sent after a failure, and not for a superseded turn.',
    schema: SCHEMAS.agent_finished,
    example: {
      id: '4',
      type: 'agent_finished',
      payload: { responseId: 'resp_demo.turn_1', sessionId: 'demo' },
    },
    ids: [
      { id: 'session', at: 'payload.sessionId' },
      { id: 'turn', at: 'payload.responseId', match: '[^.]+$' },
    ],
  },
  context_info: {
    summary:
      'The size of the context, on request and after each turn, whatever its outcome. `tokenCount` covers instructions, tools and conversation, as in the next request; `maxTokens` is the limit of the model that answers the session.',
    schema: SCHEMAS.context_info,
    example: {
      id: '5',
      type: 'context_info',
      payload: {
        tokenCount: 475,
        usagePercent: 47.5,
        transcriptLength: 5,
        maxTokens: 1000,
        strategy: 'ThresholdContextManager',
        sessionId: 'demo',
      },
    },
  },
  context_compacted: {
    summary:
      'The context was compacted, automatically or on request. `newTokenCount` is the value of the next `context_info`.',
    schema: SCHEMAS.context_compacted,
    example: {
      id: '6',
      type: 'context_compacted',
      payload: {
        oldTokenCount: 1247,
        newTokenCount: 446,
        reductionPercent: 64.2,
        strategy: 'ThresholdContextManager',
        sessionId: 'demo',
      },
    },
  },
  error: {
    summary: 'A message was refused, or the turn failed.',
    schema: SCHEMAS.error,
    example: { id: '7', type: 'error', payload: { message: 'No pending approval request', details: null } },
  },
};

// Describes the frames that clients send.

type Type = ClientFrame['type'];

function schemaOf(type: Type) {
  const schema = ClientFrame.options.find((option) => option.shape.type.value === type);
  if (!schema) throw new Error(`there is no frame ${type}`);
  return schema;
}

const message = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const input = (text: string) => ({ id: '1', type: 'user_input', payload: { input: [message(text)] } });
const review = (payload: object) => ({ id: '1', type: 'approval_response', payload });
const withImage = {
  ...message('what is this?'),
  content: [
    { type: 'input_text', text: 'echo hello' },
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
  ],
};
const earlier = ({ session, turn }: ExampleIds) => `resp_${session}.${turn}`;

const inbound: Readonly<Record<Type, InboundMessage>> = {
  user_input: {
    summary:
      'User messages: text, strings, images as URLs (data:, http:, https:). Other items are ignored: the server keeps the conversation. `previousResponseId` continues the session of that response; an unknown one is ignored. A second input supersedes the running turn.',
    schema: schemaOf('user_input'),
    examples: (ids) => [
      { title: 'Send a message', endedBy: 'agent_finished', frame: input('count to 20') },
      {
        title: 'Ask for a command that needs approval',
        endedBy: 'approval_request',
        frame: input('run touch hello.txt'),
      },
      {
        title: 'Continue from an earlier response',
        endedBy: 'agent_finished',
        frame: {
          id: '1',
          type: 'user_input',
          payload: { input: [message('and backwards')], previousResponseId: earlier(ids) },
        },
      },
      {
        title: 'Send text and an image',
        endedBy: 'agent_finished',
        frame: { id: '1', type: 'user_input', payload: { input: [withImage], previousResponseId: null } },
      },
    ],
  },
  approval_response: {
    summary:
      'Answers the pending approval: `yes`, `always`, `no-continue` (with `customDenyMessage`), `no-exit`. `explain` asks for an explanation and leaves it pending.',
    schema: schemaOf('approval_response'),
    examples: () => [
      { title: 'Approve once', frame: review({ review: 'yes' }) },
      { title: 'Approve always', frame: review({ review: 'always' }) },
      {
        title: 'Deny with a reason',
        frame: review({ review: 'no-continue', customDenyMessage: 'Not this file.' }),
      },
      { title: 'Deny and end the turn', frame: review({ review: 'no-exit' }) },
      { title: 'Ask for an explanation', frame: review({ review: 'explain' }) },
    ],
  },
  get_context_info: {
    summary: 'Requests the context usage.',
    schema: schemaOf('get_context_info'),
    examples: () => [
      { title: 'Get the context use', frame: { id: '1', type: 'get_context_info', payload: {} } },
    ],
  },
  manual_compact: {
    summary: 'Compacts the context. An error if the transcript is empty or a turn is running.',
    schema: schemaOf('manual_compact'),
    examples: () => [
      { title: 'Compact the context', frame: { id: '1', type: 'manual_compact', payload: {} } },
    ],
  },
};

export const description: Description = {
  title: 'Terminal agent',
  summary:
    'Terminal and web front ends of a coding agent. One socket is one conversation; ?session=NAME joins a session.',
  endpoints: [],
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound, out: outbound },
};
