/**
 * The official conformance suite: what the revisions require of servers, whose fixtures are an operator's own modules, and of clients,
 * for which it runs `conformance/client.ts`.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';

const SUITE = join(import.meta.dir, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const MODULES = join(import.meta.dir, 'conformance');

let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), 'parlance-conformance-'));
beforeAll(async () => {
  server = await startTestServer({
    PARLANCE_TOOLS: join(MODULES, 'tools.ts'),
    PARLANCE_PROMPTS: join(MODULES, 'prompts.ts'),
    PARLANCE_RESOURCES: join(MODULES, 'resources.ts'),
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const command = [process.execPath, SUITE, ...args];
  const suite = Bun.spawn(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
  const output = (await Promise.all([suite.stdout.text(), suite.stderr.text()])).join('\n');
  return { code: await suite.exited, output };
}

const REVISIONS = ['2025-11-25', '2026-07-28'];

test.each(REVISIONS)('everything that %s requires of servers', async (revision) => {
  const { code, output } = await run('server', '--url', `${server.http}/mcp`, '--requirements', revision);
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
});

test.each(REVISIONS)('everything that %s requires of clients', async (revision) => {
  const client = `${process.execPath} ${join(MODULES, 'client.ts')}`;
  // All scenarios run at the same time, each with a process of its own.
  const { code, output } = await run(
    'client',
    '--command',
    client,
    '--timeout',
    '120000',
    '--requirements',
    revision,
  );
  expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
});
