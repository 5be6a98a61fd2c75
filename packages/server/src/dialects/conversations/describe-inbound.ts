/** Describes the frames that clients send over the WebSocket. */
import { z } from 'zod';
import { type ExampleIds, type InboundMessage, typed } from '../shared/description.ts';
import { ApproveTool, CancelStream, type KnownType, SendMessage, StartConversation } from './requests.ts';

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

export const inbound: Readonly<Record<KnownType, InboundMessage>> = {
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
};
