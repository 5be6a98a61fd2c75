/** The editor configurations of the guide start a working agent. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { guideCode, pathWithParlance } from '../guide.ts';
import { Editor } from './editor.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-acp-guide-'));
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

const Program = {
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
};

/** https://zed.dev/docs/ai/external-agents, https://www.jetbrains.com/help/ai-assistant/acp.html */
const EDITORS = {
  Zed: z.strictObject({ type: z.literal('custom'), ...Program }),
  JetBrains: z.strictObject(Program),
} as const;

test.each(['Zed', 'JetBrains'] as const)('%s', async (name) => {
  const Settings = z.strictObject({ agent_servers: z.record(z.string(), EDITORS[name]) });
  const where = { http: server.http, headers: { authorization: `Bearer ${token}` } };
  const settings = Settings.parse(JSON.parse(await guideCode(where, 'acp', name)));
  const [agent] = Object.values(settings.agent_servers);
  if (!agent) throw new Error('no agent');
  const env = { ...agent.env, PATH: pathWithParlance(folder), PARLANCE_TOKEN: token };
  await using editor = new Editor({ command: [agent.command], args: agent.args, env, cwd: folder });
  expect(await editor.initialize()).toMatchObject({ agentInfo: { name: 'parlance' } });
  const session = await editor.newSession(server.root);
  expect(await editor.prompt(session, 'count to 3')).toEqual({ stopReason: 'end_turn' });
  expect(editor.text(session)).toContain('3');
  expect(await editor.end()).toEqual({ code: 0, errors: '' });
});
