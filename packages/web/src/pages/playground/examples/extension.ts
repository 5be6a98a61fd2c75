/** Client messages of the extension contract. */
import type { Example, Known } from './example.ts';

const head = ({ now, fresh }: Known, type: string) => ({ id: `msg_${now}_${fresh}`, type, timestamp: now });

const session = ({ session }: Known) => (session === '' ? {} : { sessionId: session });

const execution = ({ execution = 'exec_of_a_tool_execution_request' }: Known): string => execution;

export const EXTENSION: readonly Example[] = [
  {
    type: 'client_registration',
    title: 'Register (required first)',
    frame: (known) => ({
      ...head(known, 'client_registration'),
      clientType: 'browser_extension',
      capabilities: ['extract_page_content'],
      userAgent: 'Parlance playground',
      metadata: { extensionVersion: '1.0.0', browserName: 'playground' },
    }),
  },
  {
    type: 'chat_message',
    title: 'Send a message',
    frame: (known) => ({ ...head(known, 'chat_message'), content: 'count to 20', ...session(known) }),
  },
  {
    type: 'chat_message',
    title: 'Ask for a command that needs approval',
    frame: (known) => ({ ...head(known, 'chat_message'), content: 'run touch hello.txt', ...session(known) }),
  },
  {
    type: 'chat_message',
    title: 'Answer an approval: yes or no',
    frame: (known) => ({ ...head(known, 'chat_message'), content: 'yes', ...session(known) }),
  },
  {
    type: 'chat_message',
    title: 'Request the page from this client',
    frame: (known) => ({ ...head(known, 'chat_message'), content: 'extract this page', ...session(known) }),
  },
  {
    type: 'tool_execution_status',
    title: 'Report tool progress',
    frame: (known) => ({
      ...head(known, 'tool_execution_status'),
      executionId: execution(known),
      status: 'executing',
      progress: 50,
      statusMessage: 'Half of the page is read',
    }),
  },
  {
    type: 'tool_execution_response',
    title: 'Return a tool result',
    frame: (known) => ({
      ...head(known, 'tool_execution_response'),
      executionId: execution(known),
      success: true,
      result: { title: 'A page', content: 'Its text.' },
      executionTime: 10,
    }),
  },
  {
    type: 'tool_execution_response',
    title: 'Return a tool error',
    frame: (known) => ({
      ...head(known, 'tool_execution_response'),
      executionId: execution(known),
      success: false,
      error: { type: 'permission', message: 'The page may not be read.', recoverable: false },
      executionTime: 10,
    }),
  },
  {
    type: 'clear_conversation',
    title: 'Reset the session',
    frame: (known) => ({ ...head(known, 'clear_conversation'), ...session(known) }),
  },
  { type: 'ping', title: 'Ping', frame: (known) => head(known, 'ping') },
];
