/** Client messages of the conversations contract. */
import type { Example, Known } from './example.ts';

/** Clients may name a conversation that does not exist yet `temp-…`. */
const conversationOf = ({ conversation, session, now }: Known): string =>
  session || conversation || `temp-${now}`;

const send = (known: Known, content: string) => ({
  type: 'send_message',
  conversationId: conversationOf(known),
  payload: { content },
});

const answer = (known: Known, payload: object) => ({
  type: 'approve_tool',
  conversationId: conversationOf(known),
  requestId: known.approval ?? 'the requestId of a tool_approval_required',
  payload,
});

export const CONVERSATIONS: readonly Example[] = [
  { type: 'PING', title: 'Ping', frame: () => ({ type: 'PING' }) },
  {
    type: 'start_conversation',
    title: 'Start a conversation',
    frame: () => ({ type: 'start_conversation', payload: { domainId: 'software_development' } }),
  },
  { type: 'send_message', title: 'Send a message', frame: (known) => send(known, 'count to 20') },
  {
    type: 'send_message',
    title: 'Ask for a command that needs approval',
    frame: (known) => send(known, 'run touch hello.txt'),
  },
  {
    type: 'send_message',
    title: 'Call a tool by name, without the model',
    frame: (known) => send(known, '/tool save_file {"path": "hello.txt", "content": "Hello"}'),
  },
  {
    type: 'approve_tool',
    title: 'Approve a tool',
    frame: (known) => answer(known, { approved: true }),
  },
  {
    type: 'approve_tool',
    title: 'Reject a tool with a reason',
    frame: (known) => answer(known, { approved: false, reason: 'Not this file.' }),
  },
  {
    type: 'cancel_stream',
    title: 'Stop the answer',
    frame: (known) => ({ type: 'cancel_stream', conversationId: conversationOf(known) }),
  },
];
