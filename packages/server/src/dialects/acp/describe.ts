import { z } from 'zod';
import type { Description, ExampleIds, InboundMessage, MessageExample } from '../kit/description.ts';
import { outbound } from './describe-outbound.ts';
import {
  CancelRequest,
  Initialize,
  ListSessions,
  NewSession,
  OneSession,
  OpenSession,
  PermissionResult,
  Prompt,
  SetMode,
} from './schemas.ts';

// Describes the messages that clients send.

const jsonrpc = z.literal('2.0');
const id = z.union([z.string(), z.number(), z.null()]);

type Examples = (ids: ExampleIds) => readonly [Named, ...Named[]];
type Named = { readonly title: string; readonly params: object };

const request = (
  method: string,
  params: z.ZodType,
  [summary, examples]: [string, Examples],
): InboundMessage => ({
  summary,
  schema: z.object({ jsonrpc, id, method: z.literal(method), params }),
  examples: framed(examples, (shown) => ({ jsonrpc: '2.0', id: 1, method, params: shown })),
});

const notification = (
  method: string,
  params: z.ZodType,
  [summary, examples]: [string, Examples],
): InboundMessage => ({
  summary,
  schema: z.object({ jsonrpc, method: z.literal(method), params }),
  examples: framed(examples, (shown) => ({ jsonrpc: '2.0', method, params: shown })),
});

function framed(examples: Examples, frameOf: (params: object) => object): InboundMessage['examples'] {
  return (ids) => {
    const [first, ...others] = examples(ids);
    const shown = ({ title, params }: Named): MessageExample => ({ title, frame: frameOf(params) });
    return [shown(first), ...others.map(shown)];
  };
}

const cwd = '/home/ada/project';
const text = (words: string) => ({ type: 'text', text: words });

const inbound: Readonly<Record<string, InboundMessage>> = {
  initialize: request('initialize', Initialize, [
    'Version and capabilities. A client of a higher version is answered with version 1. Needs no token.',
    () => [{ title: 'Begin', params: { protocolVersion: 1, clientCapabilities: {} } }],
  ]),
  authenticate: request('authenticate', z.object({ methodId: z.string() }), [
    'There are no methods: the token comes with the connection. Succeeds if it is valid.',
    () => [{ title: 'Check the token', params: { methodId: 'token' } }],
  ]),
  'session/new': request('session/new', NewSession, [
    'Creates a session whose tools work in `cwd`: absolute, an existing folder, and the working directory of the server or inside of it. MCP servers of the client are not started.',
    () => [{ title: 'Create a session', params: { cwd, mcpServers: [] } }],
  ]),
  'session/load': request('session/load', OpenSession, [
    'Opens a session of any dialect. Its history is sent first as `session/update`, then the response, then pending permission requests. It keeps the folder it was created in.',
    ({ session }) => [{ title: 'Show a session', params: { sessionId: session, cwd, mcpServers: [] } }],
  ]),
  'session/resume': request('session/resume', OpenSession, [
    'The same, without the history.',
    ({ session }) => [{ title: 'Resume a session', params: { sessionId: session, cwd, mcpServers: [] } }],
  ]),
  'session/list': request('session/list', ListSessions, [
    'The caller’s sessions, latest first, 50 at a time; with `cwd` those of that folder.',
    () => [{ title: 'List sessions', params: {} }],
  ]),
  'session/close': request('session/close', OneSession, [
    'Stops the updates of this session on this connection. The session is kept, and a running turn continues.',
    ({ session }) => [{ title: 'Close a session', params: { sessionId: session } }],
  ]),
  'session/set_mode': request('session/set_mode', SetMode, [
    'Changes the approval mode of the session.',
    ({ session }) => [{ title: 'Allow edits', params: { sessionId: session, modeId: 'auto-edit' } }],
  ]),
  'session/prompt': request('session/prompt', Prompt, [
    'Starts a turn, or is queued behind the running one. Answered when the turn has ended.',
    ({ session }) => [
      { title: 'Send a message', params: { sessionId: session, prompt: [text('count to 20')] } },
      {
        title: 'Send a message with a link and a file',
        params: {
          sessionId: session,
          prompt: [
            text('what is this?'),
            { type: 'resource_link', name: 'main.ts', uri: 'file:///home/ada/project/main.ts' },
            { type: 'resource', resource: { uri: 'file:///home/ada/project/a.txt', text: 'hello' } },
          ],
        },
      },
    ],
  ]),
  'session/cancel': notification('session/cancel', OneSession, [
    'Ends the turn, even if it waits for a permission. Its prompt is answered with `cancelled`.',
    ({ session }) => [{ title: 'Stop', params: { sessionId: session } }],
  ]),
  '$/cancel_request': notification('$/cancel_request', CancelRequest, [
    'Cancels a prompt by the id of its request.',
    () => [{ title: 'Stop a request', params: { requestId: 1 } }],
  ]),
  result: {
    summary:
      'Answers `session/request_permission`; `cancelled` denies. The first answer wins, in any dialect.',
    schema: z.object({ jsonrpc, id, result: PermissionResult }),
    examples: ({ approval }) => [
      {
        title: 'Allow a call',
        frame: {
          jsonrpc: '2.0',
          id: approval,
          result: { outcome: { outcome: 'selected', optionId: 'once' } },
        },
      },
    ],
  },
};

export const description: Description = {
  title: 'Editor',
  summary:
    'Editors that speak the Agent Client Protocol (Zed, JetBrains IDEs, …), version 1: JSON-RPC 2.0, one message per frame.',
  note: 'Editors start `parlance acp`, which connects their standard input and output with the server at PARLANCE_URL. Without that variable it runs its own agent, with the settings of `parlance serve`.',
  scripts: [
    {
      title: 'Zed: settings.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "type": "custom",
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'JetBrains IDEs: ~/.jetbrains/acp.json',
      language: 'json',
      code: `{
  "agent_servers": {
    "Parlance": {
      "command": "parlance",
      "args": ["acp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "" }
    }
  }
}`,
    },
    {
      title: 'The TypeScript SDK',
      language: 'ts',
      code: `import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const agent = spawn('parlance', ['acp'], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: { ...process.env, PARLANCE_URL: '{{origin}}' },
});
const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

await client({ name: 'example' })
  .onRequest(methods.client.session.requestPermission, () => ({ outcome: { outcome: 'cancelled' } }))
  .onNotification(methods.client.session.update, ({ params }) => console.log(params.update))
  .connectWith(stream, async (server) => {
    await server.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await server.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const prompt = [{ type: 'text', text: 'count to 20' }];
    console.log(await server.request(methods.agent.session.prompt, { sessionId, prompt }));
  });`,
    },
  ],
  endpoints: [],
  socket: { nameField: 'method' },
  messages: { in: inbound, out: outbound },
};
