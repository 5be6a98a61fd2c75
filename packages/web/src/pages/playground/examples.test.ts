/** Checks the examples against the server's inbound schemas. */
import { describe, expect, test } from 'bun:test';
import { Command } from '@parlance/protocol';
import type { z } from 'zod';
import * as agentloop from '../../../../server/src/dialects/agentloop/schemas.ts';
import * as broadcast from '../../../../server/src/dialects/broadcast/schemas.ts';
import * as conversations from '../../../../server/src/dialects/conversations/requests.ts';
import { description as copilot } from '../../../../server/src/dialects/copilot/describe.ts';
import * as extension from '../../../../server/src/dialects/extension/schemas.ts';
import * as pusher from '../../../../server/src/dialects/pusher/protocol.ts';
import { EXAMPLES, type Known, SPOKEN, type Spoken, UNKNOWN } from './examples/index.ts';

/** Every inbound message of each dialect. */
const TAKEN: Readonly<Record<Spoken, readonly string[]>> = {
  agentloop: [...agentloop.KNOWN_TYPES],
  extension: extension.KNOWN_TYPES,
  broadcast: broadcast.KNOWN_TYPES,
  conversations: conversations.KNOWN_TYPES,
  copilot: copilot.endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
  pusher: [...pusher.KNOWN_EVENTS, 'client-'],
  native: Command.options.map((option) => option.shape.type.value),
};

const EXTENSION: Readonly<Record<(typeof extension.KNOWN_TYPES)[number], z.ZodType>> = {
  client_registration: extension.ClientRegistration,
  ping: extension.Ping,
  chat_message: extension.ChatMessage,
  clear_conversation: extension.ClearConversation,
  tool_execution_response: extension.ToolExecutionResponse,
  tool_execution_status: extension.ToolExecutionStatus,
};
const CONVERSATIONS: Readonly<Record<conversations.KnownType, z.ZodType | null>> = {
  PING: null,
  start_conversation: conversations.StartConversation,
  send_message: conversations.SendMessage,
  cancel_stream: conversations.CancelStream,
  approve_tool: conversations.ApproveTool,
};
const PUSHER: Readonly<Record<string, z.ZodType>> = {
  'pusher:subscribe': pusher.Subscribe,
  'pusher:unsubscribe': pusher.Unsubscribe,
  'pusher:signin': pusher.SignIn,
};

type Frame = Record<string, unknown>;

/** Throws if the server would reject the frame. */
const CHECKS: Readonly<Record<Spoken, (frame: Frame) => void>> = {
  agentloop: (frame) => agentloop.ClientFrame.parse(frame),
  extension: (frame) => EXTENSION[frame.type as keyof typeof EXTENSION].parse(frame),
  broadcast: ({ message, session_id: session }) => {
    expect(typeof message === 'string' && message !== '').toBe(true);
    expect(['string', 'undefined']).toContain(typeof session);
  },
  conversations: (frame) => CONVERSATIONS[frame.type as keyof typeof CONVERSATIONS]?.parse(frame),
  copilot: checkRequest,
  pusher: (frame) => PUSHER[String(pusher.Message.parse(frame).event)]?.parse(frame.data),
  native: (frame) => Command.parse(frame),
};

/** The endpoint of a request; the first match, as in a router. */
function endpointOf({ method, path }: Frame): string | undefined {
  const [asked = ''] = String(path).split('?');
  const found = [...copilot.endpoints]
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
    .find((one) => {
      const pattern = new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`);
      return one.method.toUpperCase() === method && pattern.test(asked);
    });
  return found && `${found.method.toUpperCase()} ${found.path}`;
}

function checkRequest(frame: Frame): void {
  const named = endpointOf(frame);
  const endpoint = copilot.endpoints.find(({ method, path }) => `${method.toUpperCase()} ${path}` === named);
  const query = new URL(String(frame.path), 'http://here').searchParams;
  endpoint?.query?.parse(Object.fromEntries(query));
  endpoint?.body?.parse(frame.body);
}

const KNOWN: Known = {
  session: '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a11',
  now: 1_700_000_000_000,
  fresh: 'abcdef123',
  execution: 'exec_7',
  approval: 'approval-7',
  response: 'response-7',
  call: 'call-7',
  task: '0b0e7f9e-63a4-4d0b-8f0e-0d4c9a0f1a77',
  signature: 'key:signature',
};

describe.each([...SPOKEN])('the examples of %s', (dialect) => {
  test('cover every inbound message and nothing else', () => {
    expect(new Set(EXAMPLES[dialect].map(({ type }) => type))).toEqual(new Set(TAKEN[dialect]));
  });

  test('have the type they are listed as and pass the schema', () => {
    for (const { type, title, frame } of EXAMPLES[dialect])
      for (const known of [UNKNOWN, KNOWN]) {
        const made = frame(known) as Frame;
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
        if (type === 'client-') expect(made.event).toStartWith(type);
        else if (dialect === 'copilot') expect(endpointOf(made)).toBe(type);
        else expect(made.type ?? made.event).toBe(type);
        expect(() => CHECKS[dialect](made), title).not.toThrow();
      }
  });

  test('have unique titles', () => {
    const titles = EXAMPLES[dialect].map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

test('examples use the shared session and values learned from the server', () => {
  const text = (dialect: Spoken) => JSON.stringify(EXAMPLES[dialect].map(({ frame }) => frame(KNOWN)));
  for (const dialect of ['extension', 'broadcast', 'conversations', 'pusher'] as const)
    expect(text(dialect)).toContain(KNOWN.session);
  expect(text('extension')).toContain('exec_7');
  expect(text('conversations')).toContain('approval-7');
  expect(text('agentloop')).toContain('response-7');
  expect(text('native')).toContain('call-7');
  expect(text('pusher')).toContain('key:signature');
});
