/** How each message of each dialect is tried with somebody else's ids. One that is not here fails the test with its name. */
import { Command } from '../../packages/protocol/src/index.ts';
import { KNOWN_TYPES as AGENTLOOP } from '../../packages/server/src/dialects/agentloop/schemas.ts';
import { KNOWN_TYPES as BROADCAST } from '../../packages/server/src/dialects/broadcast/schemas.ts';
import { KNOWN_TYPES as CONVERSATIONS } from '../../packages/server/src/dialects/conversations/requests.ts';
import { KNOWN_TYPES as EXTENSION } from '../../packages/server/src/dialects/extension/schemas.ts';
import { KNOWN_EVENTS as PUSHER } from '../../packages/server/src/dialects/pusher/protocol.ts';
import { subscriptionAuth } from '../../packages/server/src/dialects/pusher/signature.ts';
import type { Ids } from './things.ts';

export type MessageTry = {
  /** `socket` is the id that the client was greeted with, where it was */
  readonly frames: (ids: Ids, socket: string) => readonly object[];
  /** the answer is a turn in a session of one's own that has the same name; it ends with such a frame */
  readonly turn?: string;
};

export type Wire = {
  readonly path: (ids: Ids) => string;
  readonly types: readonly string[];
  readonly tries: Readonly<Record<string, MessageTry>>;
  /** what a client says first, and the type of what it is answered with */
  readonly greeting?: { readonly say?: object; readonly heard: string };
  /** a frame that is answered with its own name, so that everything before it has been answered */
  readonly fence: (name: string) => object;
};

const HEAD = { id: 'msg_1_abcdefghi', timestamp: 1 };
const typed = (name: string) => ({ id: name, type: name });
const input = (text: string) => [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }];

const APPLICATION = { id: 'app-id', key: 'app-key', secret: 'app-secret', known: true, guarded: false };

export const WIRES: Readonly<Record<string, Wire>> = {
  agentloop: {
    path: ({ session }) => `/agentloop?session=${session}`,
    types: [...AGENTLOOP],
    fence: typed,
    tries: {
      user_input: {
        frames: ({ session, turn }) => [
          {
            id: '1',
            type: 'user_input',
            payload: { input: input('echo hello'), previousResponseId: `resp_${session}.${turn}` },
          },
        ],
        turn: 'agent_finished',
      },
      approval_response: {
        frames: () =>
          ['yes', 'always', 'no-continue', 'no-exit', 'explain'].map((review) => ({
            id: '1',
            type: 'approval_response',
            payload: { review },
          })),
      },
      get_context_info: { frames: () => [{ id: '1', type: 'get_context_info' }] },
      manual_compact: { frames: () => [{ id: '1', type: 'manual_compact' }] },
    },
  },
  broadcast: {
    path: ({ session }) => `/broadcast?session=${session}`,
    types: BROADCAST,
    fence: typed,
    tries: {
      chat: {
        frames: ({ session }) => [{ type: 'chat', message: 'yes', session_id: session }],
        turn: 'agent_message',
      },
    },
  },
  conversations: {
    path: ({ session }) => `/conversations?session=${session}`,
    types: CONVERSATIONS,
    fence: typed,
    tries: {
      PING: { frames: () => [{ type: 'PING' }] },
      start_conversation: {
        frames: ({ session }) => [
          { type: 'start_conversation', conversationId: session, payload: { domainId: session } },
          { type: 'start_conversation', conversationId: session, payload: { domainId: 'general' } },
        ],
      },
      send_message: {
        frames: ({ session, copilot, browser }) =>
          [session, copilot, browser].map((conversationId) => ({
            type: 'send_message',
            conversationId,
            payload: { content: 'echo hello' },
          })),
      },
      cancel_stream: {
        frames: ({ session, browser }) =>
          [session, browser].map((conversationId) => ({ type: 'cancel_stream', conversationId })),
      },
      approve_tool: {
        frames: ({ session, approval: requestId }) =>
          [true, false].map((approved) => ({
            type: 'approve_tool',
            conversationId: session,
            requestId,
            payload: { approved },
          })),
      },
    },
  },
  extension: {
    path: ({ session }) => `/extension?session=${session}`,
    types: EXTENSION,
    greeting: {
      say: {
        ...HEAD,
        type: 'client_registration',
        clientType: 'browser_extension',
        capabilities: ['all_tools'],
      },
      heard: 'registration_confirmed',
    },
    fence: typed,
    tries: {
      client_registration: {
        frames: ({ owner }) => [
          { ...HEAD, type: 'client_registration', capabilities: ['all_tools'], userId: owner },
          { ...HEAD, type: 'client_registration', capabilities: ['all_tools'], sessionToken: owner },
        ],
      },
      ping: { frames: () => [{ ...HEAD, type: 'ping' }] },
      chat_message: {
        frames: ({ session }) => [{ ...HEAD, type: 'chat_message', content: 'yes', sessionId: session }],
        turn: 'agent_response',
      },
      clear_conversation: {
        frames: ({ session, copilot, browser }) =>
          [session, copilot, browser].map((sessionId) => ({
            ...HEAD,
            type: 'clear_conversation',
            sessionId,
          })),
      },
      tool_execution_response: {
        frames: ({ execution: executionId }) => [
          {
            ...HEAD,
            type: 'tool_execution_response',
            executionId,
            success: true,
            result: 'forged',
            executionTime: 1,
          },
        ],
      },
      tool_execution_status: {
        frames: ({ execution: executionId }) => [
          { ...HEAD, type: 'tool_execution_status', executionId, status: 'failed', statusMessage: 'forged' },
        ],
      },
    },
  },
  pusher: {
    path: () => '/app/app-key?protocol=7',
    types: [...PUSHER, 'client-event'],
    greeting: { heard: 'pusher:connection_established' },
    fence: (event) => ({ event }),
    tries: {
      'pusher:ping': { frames: () => [{ event: 'pusher:ping', data: {} }] },
      'pusher:pong': { frames: () => [{ event: 'pusher:pong', data: {} }] },
      // Signed, even, with the secret that stands in every documentation.
      'pusher:subscribe': {
        frames: ({ session, owner }, socket) =>
          [`private-session-${session}`, `private-user-${owner}`].flatMap((channel) => [
            { event: 'pusher:subscribe', data: { channel } },
            { event: 'pusher:subscribe', data: { channel, auth: `app-key:${'0'.repeat(64)}` } },
            {
              event: 'pusher:subscribe',
              data: { channel, auth: subscriptionAuth(APPLICATION, socket, channel, undefined) },
            },
          ]),
      },
      'pusher:unsubscribe': {
        frames: ({ session }) => [
          { event: 'pusher:unsubscribe', data: { channel: `private-session-${session}` } },
        ],
      },
      'pusher:signin': {
        frames: ({ owner }) => [
          {
            event: 'pusher:signin',
            data: { auth: `app-key:${'0'.repeat(64)}`, user_data: JSON.stringify({ id: owner }) },
          },
        ],
      },
      'client-event': {
        frames: ({ session }) => [
          { event: 'client-event', channel: `private-session-${session}`, data: { forged: true } },
        ],
      },
    },
  },
};

const parts = [{ type: 'text', text: 'echo hello' }];

/** Commands of the native API, which are posted. */
export const COMMANDS: Readonly<Record<Command['type'], (ids: Ids) => readonly object[]>> = {
  'session.create': () => [{ type: 'session.create', title: 'mine' }],
  'input.submit': () => [{ type: 'input.submit', parts }],
  'turn.cancel': () => [{ type: 'turn.cancel' }],
  'approval.answer': ({ approval, hash }) => [
    { type: 'approval.answer', answer: 'once' },
    { type: 'approval.answer', answer: 'always', approval, hash },
    { type: 'approval.answer', answer: 'deny', approval, exit: true },
  ],
  'approval.explain': ({ approval }) => [
    { type: 'approval.explain' },
    { type: 'approval.explain', approval },
  ],
  'call.answer': ({ call }) => [{ type: 'call.answer', call, parts }],
  'session.rename': () => [{ type: 'session.rename', title: 'mine' }],
  'session.configure': () => [{ type: 'session.configure', approval: 'suggest', model: null }],
  'session.archive': () => [{ type: 'session.archive' }],
  'session.label': () => [{ type: 'session.label', labels: { url: 'mine' } }],
  'grant.revoke': ({ grant }) => [{ type: 'grant.revoke', grant }],
  'context.compact': () => [{ type: 'context.compact' }],
  'session.clear': () => [{ type: 'session.clear' }],
};

/** They make a session of one's own where the id is not known: as they would with any id. */
export const MAKING: ReadonlySet<string> = new Set(['session.create', 'input.submit']);

export const COMMAND_TYPES: readonly string[] = Command.options.map((option) => option.shape.type.value);
