/** The scenarios of the official conformance suite that do not need its own tools. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';

const SUITE = join(import.meta.dir, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

let server: TestServer;
const folder = mkdtempSync(join(tmpdir(), 'parlance-conformance-'));
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'dns-rebinding-protection',
  'server-sse-multiple-streams',
])('%s', async (scenario) => {
  const command = [process.execPath, SUITE, 'server', '--url', `${server.http}/mcp`, '--scenario', scenario];
  const run = Bun.spawn(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
  const output = (await Promise.all([run.stdout.text(), run.stderr.text()])).join('\n');
  expect([await run.exited, output]).toEqual([0, expect.stringMatching(/Passed: [1-9]\d*\/(\d+), 0 failed/)]);
});
