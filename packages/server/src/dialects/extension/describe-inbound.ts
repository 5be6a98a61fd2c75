/** Describes the frames that clients send. */
import { type ExampleIds, type InboundMessage, typed } from '../shared/description.ts';
import {
  ChatMessage,
  ClearConversation,
  ClientRegistration,
  type KNOWN_TYPES,
  Ping,
  ToolExecutionResponse,
  ToolExecutionStatus,
} from './schemas.ts';

const head = (type: string) => ({ id: 'msg_1700000000000_abcdefghi', type, timestamp: 1_700_000_000_000 });
const registration = { ...head('client_registration'), clientType: 'browser_extension' };

const chat = ({ session }: ExampleIds, content: string) => ({
  ...head('chat_message'),
  content,
  sessionId: session,
});

const response = ({ execution }: ExampleIds, rest: object) => ({
  ...head('tool_execution_response'),
  executionId: execution,
  executionTime: 10,
  ...rest,
});

export const inbound: Readonly<Record<(typeof KNOWN_TYPES)[number], InboundMessage>> = {
  client_registration: {
    summary:
      'Must be the first message; a second one replaces the first. `capabilities` names the tools that the client runs; `all_tools` stands for all of them.',
    schema: typed('client_registration', ClientRegistration),
    examples: ({ owner }) => [
      {
        title: 'Register',
        frame: { ...registration, capabilities: ['all_tools'] },
      },
      {
        title: 'Register with client details',
        frame: {
          ...registration,
          capabilities: ['extract_page_content'],
          userAgent: 'a browser',
          metadata: { extensionVersion: '1.0.0', nested: { a: [1, 2] } },
        },
      },
      {
        title: 'Register with a user name, which is ignored',
        probe: true,
        frame: { ...registration, capabilities: ['all_tools'], userId: owner },
      },
      {
        title: 'Register with an invalid token',
        probe: true,
        frame: { ...registration, capabilities: ['all_tools'], sessionToken: owner },
      },
    ],
  },
  ping: {
    summary: 'Asks for a `pong` with the same id; even before registration.',
    schema: typed('ping', Ping),
    examples: () => [{ title: 'Ping', frame: head('ping') }],
  },
  chat_message: {
    summary:
      'A message to the agent; `content` must not be blank. Without `sessionId` it goes to the session of the previous message. If an approval is pending in the session, a message that is just yes or no answers it.',
    schema: typed('chat_message', ChatMessage),
    examples: (ids) => [
      { title: 'Send a message', first: true, endedBy: 'agent_response', frame: chat(ids, 'count to 20') },
      {
        title: 'Ask for a command that needs approval',
        endedBy: 'agent_response',
        frame: chat(ids, 'run touch hello.txt'),
      },
      { title: 'Answer an approval: yes or no', endedBy: 'agent_response', frame: chat(ids, 'yes') },
      {
        title: 'Request the page from this client',
        endedBy: 'tool_execution_request',
        frame: chat(ids, 'extract this page'),
      },
    ],
  },
  clear_conversation: {
    summary: 'Clears the context of the session; `clientId` is ignored.',
    schema: typed('clear_conversation', ClearConversation),
    examples: ({ session }) => [
      { title: 'Reset the session', frame: { ...head('clear_conversation'), sessionId: session } },
    ],
  },
  tool_execution_response: {
    summary: 'The result of a tool call that the client executed.',
    schema: typed('tool_execution_response', ToolExecutionResponse),
    examples: (ids) => [
      {
        title: 'Return a tool result',
        frame: response(ids, { success: true, result: { title: 'A page', content: 'Its text.' } }),
      },
      {
        title: 'Return a tool error',
        frame: response(ids, {
          success: false,
          error: { type: 'permission', message: 'The page may not be read.', recoverable: false },
        }),
      },
    ],
  },
  tool_execution_status: {
    summary:
      'The progress of a tool that the client runs; forwarded to every socket attached to the session.',
    schema: typed('tool_execution_status', ToolExecutionStatus),
    examples: ({ execution }) => [
      {
        title: 'Report tool progress',
        frame: {
          ...head('tool_execution_status'),
          executionId: execution,
          status: 'executing',
          progress: 50,
          statusMessage: 'Half of the page is read',
        },
      },
    ],
  },
};
