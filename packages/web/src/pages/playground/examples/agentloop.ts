/** Client messages of the agentloop contract. */
import type { Example, Known } from './example.ts';

const message = (text: string) => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});

const input = ({ fresh }: Known, text: string) => ({
  id: fresh,
  type: 'user_input',
  payload: { input: [message(text)] },
});

const review = ({ fresh }: Known, payload: object) => ({ id: fresh, type: 'approval_response', payload });

export const AGENTLOOP: readonly Example[] = [
  { type: 'user_input', title: 'Send a message', frame: (known) => input(known, 'count to 20') },
  {
    type: 'user_input',
    title: 'Ask for a command that needs approval',
    frame: (known) => input(known, 'run touch hello.txt'),
  },
  {
    type: 'user_input',
    title: 'Continue from an earlier response',
    frame: ({ fresh, response = 'the responseId of an agent_finished' }) => ({
      id: fresh,
      type: 'user_input',
      payload: { input: [message('and backwards')], previousResponseId: response },
    }),
  },
  { type: 'approval_response', title: 'Approve once', frame: (known) => review(known, { review: 'yes' }) },
  {
    type: 'approval_response',
    title: 'Approve always',
    frame: (known) => review(known, { review: 'always' }),
  },
  {
    type: 'approval_response',
    title: 'Deny with a reason',
    frame: (known) => review(known, { review: 'no-continue', customDenyMessage: 'Not this file.' }),
  },
  {
    type: 'approval_response',
    title: 'Deny and end the turn',
    frame: (known) => review(known, { review: 'no-exit' }),
  },
  {
    type: 'approval_response',
    title: 'Ask for an explanation',
    frame: (known) => review(known, { review: 'explain' }),
  },
  {
    type: 'get_context_info',
    title: 'Get the context use',
    frame: ({ fresh }) => ({ id: fresh, type: 'get_context_info', payload: {} }),
  },
  {
    type: 'manual_compact',
    title: 'Compact the context',
    frame: ({ fresh }) => ({ id: fresh, type: 'manual_compact', payload: {} }),
  },
];
