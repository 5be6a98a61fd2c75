/** The server's own files in the working directory of tools: no tool reads or changes them. */
import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';

const KEY = 'hunter2-hunter2';
const folder = mkdtempSync(join(tmpdir(), 'parlance-own-'));
let server: TestServer;

afterEach(() => server.stop());
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A working directory that contains the config file and the data folder. */
async function start(): Promise<TestServer> {
  const root = mkdtempSync(join(folder, 'root-'));
  mkdirSync(join(root, 'conf'));
  const settings = { serperKey: KEY, rules: [{ tool: 'shell', pattern: 'ls *', decision: 'allow' }] };
  writeFileSync(join(root, 'conf/settings.json'), JSON.stringify(settings));
  writeFileSync(join(root, 'notes.txt'), 'harmless notes\n');
  server = await startTestServer({
    WORKING_DIRECTORY: root,
    PARLANCE_CONFIG: join(root, 'conf/settings.json'),
    PARLANCE_DATA: join(root, 'var/data'),
    TOOL_USE_APPROVAL_MODE: 'auto-edit',
  });
  return server;
}

/** The outcome of each direct call of a user with the role `user`. */
async function outcomes(calls: readonly [tool: string, input: object][]): Promise<string[]> {
  const token = await server.login('uma', 'uma-password');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const said: string[] = [];
  for (const [tool, input] of calls) {
    const session = `${server.http}/v1/sessions/${crypto.randomUUID()}`;
    const body = JSON.stringify({ type: 'input.submit', parts: [], call: { tool, input } });
    const sent = await fetch(`${session}/commands`, { method: 'POST', headers, body });
    expect([sent.status, sent.ok ? '' : await sent.text()]).toEqual([200, '']);
    said.push(await ended(session, headers));
  }
  return said;
}

/** The outcome of the call, or a note that it needs approval. */
async function ended(session: string, headers: Record<string, string>): Promise<string> {
  const stop = new AbortController();
  const stream = await fetch(`${session}/events`, {
    headers: { ...headers, accept: 'text/event-stream' },
    signal: stop.signal,
  });
  const events: DurableEvent[] = [];
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += new TextDecoder().decode(chunk);
    const messages = text.split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (message.startsWith('id: ') && data) events.push(JSON.parse(data));
    }
    if (events.some(({ type }) => type === 'tool.ended' || type === 'approval.requested')) break;
  }
  stop.abort();
  if (events.some(({ type }) => type === 'approval.requested')) return 'asks';
  return JSON.stringify(events.findLast(({ type }) => type === 'tool.ended'));
}

test('the config file and the data folder are hidden from a user, and files beside them are not', async () => {
  await start();
  const said = await outcomes([
    ['read_file', { path: 'conf/settings.json' }],
    ['search_files', { query: 'hunter2' }],
    ['list_files', { depth: 5 }],
    ['read_file', { path: 'var/data/secret' }],
    ['save_file', { path: 'conf/settings.json', content: '{}' }],
    ['save_file', { path: 'var/data/config.json', content: '{}' }],
    ['read_file', { path: 'notes.txt' }],
    ['save_file', { path: 'conf/other.json', content: '{}' }],
  ]);
  for (const outcome of said.slice(0, 6)) {
    expect(outcome).not.toContain(KEY);
    expect(outcome).not.toMatch(/parlance\.db|settings\.json\\n/);
  }
  for (const index of [0, 3, 4, 5])
    expect(said[index]).toMatch(/closed to tools|leaves the working folder|asks/);
  expect(said[6]).toContain('harmless notes');
  expect(said[7]).toContain('Saved conf/other.json');
});

test('commands of a user can access neither of them', async () => {
  await start();
  const [outcome = ''] = await outcomes([['shell', { command: ['cat', 'conf/settings.json', 'notes.txt'] }]]);
  expect(outcome).not.toContain(KEY);
  expect(outcome).toMatch(/harmless notes|asks/);
});

test('what a tool module in the working directory imports cannot be changed; its neighbours can', async () => {
  const root = mkdtempSync(join(folder, 'tools-'));
  const tool = "{ name: 'a', description: 'A.', parameters: { type: 'object' }, run: () => 1 }";
  writeFileSync(join(root, 'own.ts'), `import './helpers.ts'; import 'pkg'; export const a = ${tool};`);
  writeFileSync(join(root, 'helpers.ts'), 'export {};');
  mkdirSync(join(root, 'node_modules/pkg'), { recursive: true });
  writeFileSync(join(root, 'node_modules/pkg/index.js'), '');
  const settings = { WORKING_DIRECTORY: root, PARLANCE_TOOLS: join(root, 'own.ts') };
  server = await startTestServer({ ...settings, TOOL_USE_APPROVAL_MODE: 'auto-edit' });
  const saved = (path: string): [string, object] => ['save_file', { path, content: 'changed' }];
  const paths = ['own.ts', 'helpers.ts', 'node_modules/pkg/index.js', 'other.ts'];
  expect(await outcomes(paths.map(saved))).toEqual([
    ...paths.slice(0, 3).map((path) => expect.stringContaining(`The path ${path} belongs to the server`)),
    expect.stringContaining('Saved other.ts'),
  ]);
});
