/** The frames of the contract, in and out, with examples. */
import { z } from 'zod';
import type {
  BodyOf,
  Description,
  ExampleIds,
  InboundMessage,
  OutboundMessages,
} from '../kit/description.ts';

// In

const ContentPart = z.union([
  z.string(),
  z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.string().optional() }),
]);

/** Items of other types are part of the contract but are ignored: the server keeps the conversation itself. */
const InputItem = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.union([z.string(), z.array(ContentPart)]).optional(),
});

const Head = { id: z.string() };

export const ClientFrame = z.discriminatedUnion('type', [
  z.object({
    ...Head,
    type: z.literal('user_input'),
    payload: z.object({ input: z.array(InputItem), previousResponseId: z.string().nullish() }),
  }),
  z.object({
    ...Head,
    type: z.literal('approval_response'),
    payload: z.object({
      review: z.enum(['yes', 'no-exit', 'no-continue', 'always', 'explain']),
      applyPatch: z.unknown().optional(),
      customDenyMessage: z.string().nullish(),
      explanation: z.string().nullish(),
    }),
  }),
  z.object({ ...Head, type: z.literal('get_context_info'), payload: z.unknown().optional() }),
  z.object({ ...Head, type: z.literal('manual_compact'), payload: z.unknown().optional() }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;
export type InputItem = z.infer<typeof InputItem>;

export const KNOWN_TYPES: ReadonlySet<string> = new Set(
  ClientFrame.options.map((option) => option.shape.type.value),
);

function schemaOf(type: ClientFrame['type']) {
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

const inbound = (): Readonly<Record<ClientFrame['type'], InboundMessage>> => ({
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
});

// Out

const text = (type: 'input_text' | 'output_text', words: string) => [{ type, text: words }];

function outbound() {
  const id = z.string();
  const content = z.array(z.strictObject({ type: z.enum(['input_text', 'output_text']), text: z.string() }));
  const output = z.string().describe('JSON: {output, metadata: {exit_code, duration_seconds}}');

  const strategy = z.enum(['ThresholdContextManager', 'NoContextManager']);
  const frame = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) =>
    z.strictObject({ id, type: z.literal(type), payload });
  const Item = z.discriminatedUnion('type', [
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
  return {
    response_item: {
      summary:
        'An item of the conversation. `message`: text as it streams, many items with the same payload `id`, each with only the new text, the last one with a line break if the text has none at its end; role `user` is a turn started by another client, role `system` a failure, a retried model call or a change of agent. `reasoning`: a complete block. `function_call` and `function_call_output`: a call starts (after its approval) and has its outcome; `local_shell_call` and `local_shell_call_output`: the same for `local_shell`, both when the call has ended.',
      schema: frame('response_item', Item),
      example: {
        id: '2',
        type: 'response_item',
        payload: { id: 'block_1', type: 'message', role: 'assistant', content: text('output_text', '1 2 3') },
      },
    },
    loading_state: {
      summary: 'A turn starts or ends.',
      schema: frame('loading_state', z.strictObject({ loading: z.boolean() })),
      example: { id: '1', type: 'loading_state', payload: { loading: true } },
    },
    approval_request: {
      summary:
        'A call needs approval. For a patch, `command` is `["apply_patch", "<patch>"]` and `applyPatch` is `{patch}`; if it overwrites existing files, a `response_item` of role `system` before it names them.',
      schema: frame(
        'approval_request',
        z.strictObject({
          command: z.array(z.string()),
          applyPatch: z.strictObject({ patch: z.string() }).optional(),
          requestId: z.string(),
        }),
      ),
      example: {
        id: '3',
        type: 'approval_request',
        payload: { command: ['touch', 'hello.txt'], requestId: 'approval_1' },
      },
    },
    agent_finished: {
      summary: 'The turn has ended; not sent after a failure, and not for a superseded turn.',
      schema: frame(
        'agent_finished',
        z.strictObject({
          responseId: z.string().describe('names the session: `previousResponseId` of a later input'),
          sessionId: z.string(),
        }),
      ),
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
      schema: frame(
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
      schema: frame(
        'context_compacted',
        z.strictObject({
          oldTokenCount: z.number(),
          newTokenCount: z.number(),
          reductionPercent: z.number(),
          strategy,
          sessionId: z.string(),
        }),
      ),
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
      schema: frame(
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
      example: { id: '7', type: 'error', payload: { message: 'No pending approval request', details: null } },
    },
  } satisfies OutboundMessages;
}

export type Body = BodyOf<typeof outbound>;
export type Item = Extract<Body, { type: 'response_item' }>['payload'];
/** `retryAfter` is in seconds. */
export type Details = Extract<Body, { type: 'error' }>['payload']['details'];

export const description = (): Description => ({
  title: 'Terminal agent',
  summary:
    'Terminal and web front ends of a coding agent. One socket is one conversation; ?session=NAME joins a session.',
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound(), out: outbound() },
});
