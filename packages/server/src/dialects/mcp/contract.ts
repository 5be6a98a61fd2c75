/** The names, codes and addresses of the protocol, the bodies of its endpoints, and what the documents show. */
import type { Fault, FaultCode } from '@parlance/protocol';
import { z } from 'zod';
import {
  type Description,
  type Examples,
  errorAnswers,
  named,
  type RequestExample,
} from '../kit/description.ts';
import { errorMessage, RPC_CODES, type RpcError, errorOf as rpcErrorOf } from '../kit/json-rpc.ts';

export const PATH = '/mcp';

export const MODERN = '2026-07-28';
/** latest first */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

const PREFIX = 'io.modelcontextprotocol/';
export const META = {
  version: `${PREFIX}protocolVersion`,
  capabilities: `${PREFIX}clientCapabilities`,
  serverInfo: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
  logLevel: `${PREFIX}logLevel`,
} as const;

/** Addresses of sessions as resources begin with it. */
export const BASE_URI = 'parlance://sessions/';
export const uriOf = (session: string): string => BASE_URI + encodeURIComponent(session);

// Errors

export const CODES = {
  ...RPC_CODES,
  resource: -32_002,
  header: -32_020,
  capability: -32_021,
  version: -32_022,
} as const;

const FAULTS: Partial<Record<FaultCode, number>> = {
  invalid: CODES.params,
  empty: CODES.params,
  not_found: CODES.params,
  internal: CODES.internal,
  storage_unavailable: CODES.internal,
};

export const errorOf = (fault: Fault): RpcError => rpcErrorOf(fault, FAULTS, CODES.refused);

/** The host or origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string) =>
  errorMessage(null, { code: status < 500 ? CODES.refused : CODES.internal, message });

// Requests

export const RequestHeaders = z.object({
  'mcp-session-id': z.string().optional().describe('as returned by `initialize`'),
  'mcp-protocol-version': z.string().optional().describe('the agreed revision'),
});

export const RequestQuery = z.object({
  agent: z.string().optional().describe('the agent whose tools are offered, and that answers'),
});

const Id = z.union([z.string(), z.number()]);
const Params = z.record(z.string(), z.unknown());

export const Message: z.ZodType = named(
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

const request = (method: string, params?: object) => ({
  body: { jsonrpc: '2.0', id: 1, method, ...(params && { params }) },
});

const call = (name: string, args: object) => request('tools/call', { name, arguments: args });

const modern = (method: string, params: object = {}) =>
  request(method, { ...params, _meta: { [META.version]: MODERN, [META.capabilities]: {} } });

const INITIALIZE = {
  protocolVersion: LEGACY[0],
  capabilities: { elicitation: {} },
  clientInfo: { name: 'example', version: '1' },
};

export const examples: Examples<RequestExample> = ({ session, approval }) => [
  {
    title: 'Send a message',
    first: true,
    creates: true,
    ...call('send_message', { text: 'count to 20', session }),
  },
  { title: 'Begin', body: { jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE } },
  { title: 'List the tools', ...request('tools/list') },
  { title: 'Answer an approval', ...call('answer_approval', { approval, answer: 'deny' }) },
  { title: 'Read a session', ...call('read_session', { session }) },
  { title: 'Cancel a turn', ...call('cancel_turn', { session }) },
  { title: 'Read a session as a resource', ...request('resources/read', { uri: uriOf(session) }) },
  { title: 'Discover (2026-07-28)', ...modern('server/discover') },
  { title: 'Read a session (2026-07-28)', ...modern('resources/read', { uri: uriOf(session) }) },
  {
    probe: true,
    body: {
      jsonrpc: '2.0',
      id: `${approval}/1`,
      result: { action: 'accept', content: { answer: 'once' } },
    },
  },
  { probe: true, body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } } },
  { probe: true, ...request('prompts/list') },
];

// For the documents: what endpoints answer, and how clients are configured.

export function schemas() {
  const McpError = named(
    'McpError',
    z.object({
      jsonrpc: z.literal('2.0'),
      id: Id.nullable(),
      error: z.object({ code: z.int(), message: z.string(), data: Params.optional() }),
    }),
  );
  const McpAnswer = named(
    'McpAnswer',
    z.union([z.object({ jsonrpc: z.literal('2.0'), id: Id, result: Params }), McpError]),
  );
  return { McpAnswer, McpError };
}

const SCRIPTS: Description['scripts'] = [
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
  {
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
  },
];

export function description(): Description {
  const answers = schemas();
  return {
    title: 'MCP clients',
    summary:
      'Editors and assistants that use tools over the Model Context Protocol: they talk to the agents, answer approvals and read sessions.',
    note: 'Clients that start programs run `parlance mcp`, with PARLANCE_URL and PARLANCE_TOKEN to use a running server.',
    scripts: SCRIPTS,
    schemas: answers,
    errors: errorAnswers(
      {
        400: 'Not JSON, not a message, or an unknown protocol version',
        401: 'Missing or invalid token',
        403: 'The role lacks the permission',
        404: 'The session of the client has ended, or the method does not exist (2026-07-28)',
        405: 'Not part of the client’s protocol revision',
        406: 'The client does not accept server-sent events',
        413: 'The body is too large',
        429: 'Too many requests',
        503: 'The server is overloaded or shutting down',
      },
      { schema: answers.McpError },
    ),
  };
}
