import { z } from 'zod';
import {
  type Answers,
  type Description,
  type Examples,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { META, MODERN } from './peer.ts';
import { uriOf } from './resources.ts';

const Id = z.union([z.string(), z.number()]);
const Params = z.record(z.string(), z.unknown());

const Message = named(
  'McpMessage',
  z
    .object({
      jsonrpc: z.literal('2.0'),
      id: Id.optional().describe('absent in notifications'),
      method: z.string().optional().describe('absent in answers to requests of the server'),
      params: Params.optional(),
      result: Params.optional(),
    })
    .describe('JSON-RPC 2.0'),
);

const ErrorAnswer = named(
  'McpError',
  z.object({
    jsonrpc: z.literal('2.0'),
    id: Id.nullable(),
    error: z.object({ code: z.int(), message: z.string(), data: Params.optional() }),
  }),
);

const ResultAnswer = named(
  'McpAnswer',
  z.union([z.object({ jsonrpc: z.literal('2.0'), id: Id, result: Params }), ErrorAnswer]),
);

const REASONS: Readonly<Record<number, string>> = {
  400: 'Not JSON, not a message, or an unknown protocol version',
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  405: 'Not part of the client’s protocol revision',
  406: 'The client does not accept server-sent events',
  413: 'The body is too large',
  429: 'Too many requests',
  503: 'The server is overloaded or shutting down',
};

const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: REASONS[code] ?? '', schema: ErrorAnswer }]));

const STREAM = {
  description: '',
  type: 'text/event-stream',
  schema: z.string().describe('JSON-RPC messages; the result is the last'),
};

const Headers = z.object({
  'mcp-session-id': z.string().optional().describe('as returned by `initialize`'),
  'mcp-protocol-version': z.string().optional().describe('the agreed revision'),
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'example', version: '1' },
  },
};

const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

const modern = (method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: { ...params, _meta: { [META.version]: MODERN, [META.capabilities]: {} } },
});

const examples: Examples<RequestExample> = ({ session, approval }) => [
  {
    title: 'Send a message',
    first: true,
    creates: true,
    body: call('send_message', { text: 'count to 20', session }),
  },
  { title: 'Begin', body: INITIALIZE },
  { title: 'List the tools', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  { title: 'Answer an approval', body: call('answer_approval', { approval, answer: 'deny' }) },
  { title: 'Read a session', body: call('read_session', { session }) },
  { title: 'Cancel a turn', body: call('cancel_turn', { session }) },
  {
    title: 'Read a session as a resource',
    body: { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: uriOf(session) } },
  },
  { title: 'Discover (2026-07-28)', body: modern('server/discover') },
  { title: 'Read a session (2026-07-28)', body: modern('resources/read', { uri: uriOf(session) }) },
  {
    probe: true,
    body: {
      jsonrpc: '2.0',
      id: `${approval}/1`,
      result: { action: 'accept', content: { answer: 'once' } },
    },
  },
  { probe: true, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } } },
  { probe: true, body: { jsonrpc: '2.0', id: 1, method: 'prompts/list' } },
];

const CONFIGURATIONS = [
  {
    title: 'VS Code: .vscode/mcp.json',
    language: 'json',
    code: `{
  "servers": {
    "parlance": {
      "type": "http",
      "url": "{{origin}}/mcp",
      "headers": { "Authorization": "Bearer \${input:parlance-token}" }
    }
  },
  "inputs": [{ "id": "parlance-token", "type": "promptString", "description": "Parlance token", "password": true }]
}`,
  },
  {
    title: 'Claude Desktop: claude_desktop_config.json',
    language: 'json',
    code: `{
  "mcpServers": {
    "parlance": {
      "command": "parlance",
      "args": ["mcp"],
      "env": { "PARLANCE_URL": "{{origin}}", "PARLANCE_TOKEN": "<token>" }
    }
  }
}`,
  },
  {
    title: 'Cursor: .cursor/mcp.json',
    language: 'json',
    code: `{
  "mcpServers": {
    "parlance": {
      "url": "{{origin}}/mcp",
      "headers": { "Authorization": "Bearer \${env:PARLANCE_TOKEN}" }
    }
  }
}`,
  },
  {
    title: 'Codex: ~/.codex/config.toml',
    language: 'toml',
    code: `[mcp_servers.parlance]
url = "{{origin}}/mcp"
bearer_token_env_var = "PARLANCE_TOKEN"`,
  },
] as const;

const CLIENT_SCRIPT = {
  title: 'Node and Bun, with @modelcontextprotocol/sdk',
  language: 'ts',
  code: `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const client = new Client({ name: 'example', version: '1.0.0' });
const headers = { Authorization: \`Bearer \${process.env.PARLANCE_TOKEN}\` };
await client.connect(new StreamableHTTPClientTransport(new URL('{{origin}}/mcp'), { requestInit: { headers } }));
const { content } = await client.callTool({ name: 'send_message', arguments: { text: 'count to 20' } });
console.log(content);
await client.close();`,
} as const;

export const description: Description = {
  title: 'MCP clients',
  summary:
    'Editors and assistants that use tools over the Model Context Protocol: they talk to the agents, answer approvals and read sessions.',
  note: 'Clients that start programs run `parlance mcp`, with PARLANCE_URL and PARLANCE_TOKEN to use a running server.',
  scripts: [...CONFIGURATIONS, CLIENT_SCRIPT],
  endpoints: [
    {
      method: 'post',
      path: '/mcp',
      summary: 'A JSON-RPC message, or several: the methods of MCP',
      security: 'caller',
      headers: Headers,
      body: Message,
      examples,
      answers: {
        200: [
          {
            description: 'The answer, whole or as server-sent events',
            schema: ResultAnswer,
            headers: { 'mcp-session-id': 'set by `initialize`' },
          },
          STREAM,
        ],
        202: { description: 'A notification or response was accepted' },
        ...errors(400, 401, 403, 413, 429, 503),
      },
    },
    {
      method: 'get',
      path: '/mcp',
      summary:
        'Notifications about resources, before 2026-07-28; with Last-Event-ID the rest of an interrupted stream',
      security: 'caller',
      headers: Headers.extend({
        'last-event-id': z.string().optional().describe('the event to resume after'),
      }),
      answers: {
        200: { ...STREAM, description: 'Server-sent events' },
        ...errors(400, 401, 403, 405, 406, 429),
      },
    },
    {
      method: 'delete',
      path: '/mcp',
      summary: 'Ends the session of a client, before 2026-07-28; the conversations stay',
      security: 'caller',
      headers: Headers,
      answers: { 204: { description: 'Ended' }, ...errors(401, 403, 405, 429) },
    },
  ],
};
