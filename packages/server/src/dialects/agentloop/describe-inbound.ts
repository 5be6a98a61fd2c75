/** Describes the frames that clients send. */
import type { ExampleIds, InboundMessage } from '../shared/description.ts';
import { ClientFrame } from './schemas.ts';

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

export const inbound: Readonly<Record<Type, InboundMessage>> = {
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
