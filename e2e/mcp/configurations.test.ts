/** The configurations of the guide are valid for their programs, and connect. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { guideCode, pathWithParlance } from '../guide.ts';
import { legacyClient } from './clients.ts';
import { configured } from './configurations.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-mcp-guide-'));
let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer({ PARLANCE_AUTH: 'required' });
  token = await server.login('dev', 'dev-password');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bearer = () => ({ authorization: `Bearer ${token}` });

test.each(['VS Code', 'Claude Desktop', 'Cursor'] as const)('%s', async (program) => {
  const { parlance } = await configured(server.http, program, token);
  if (!parlance) throw new Error('no server');
  const client = legacyClient({});
  if ('command' in parlance) {
    const { command, args, env } = parlance;
    const environment = { PATH: pathWithParlance(folder), HOME: folder, ...env };
    await client.connect(new StdioClientTransport({ command, args, env: environment, cwd: folder }));
  } else {
    const { url, headers } = parlance;
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  }
  expect(client.getServerVersion()?.name).toBe('parlance');
  const session = program.replace(' ', '-');
  const { structuredContent } = await client.callTool({
    name: 'send_message',
    arguments: { text: 'count to 3', session },
  });
  expect(structuredContent).toMatchObject({ status: 'done', session });
  await client.close();
  expect((await fetch(`${server.http}/v1/sessions/${session}`, { headers: bearer() })).status).toBe(200);
});

test('Codex', async () => {
  const code = await guideCode({ http: server.http, headers: bearer() }, 'mcp', 'Codex');
  expect(Bun.TOML.parse(code)).toEqual({
    mcp_servers: { parlance: { url: `${server.http}/mcp`, bearer_token_env_var: 'PARLANCE_TOKEN' } },
  });
});
