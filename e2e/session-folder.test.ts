/** Sessions with a working folder: every tool, the sandbox, rules and approvals respect it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '../packages/protocol/src/index.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { findSandbox } from '../packages/server/src/tools/shell/sandbox.ts';
import { followed, postJson } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-session-folder-'));
const hasSandbox = (await findSandbox()) !== null;
let server: TestServer;

beforeAll(async () => {
  const config = join(folder, 'config.json');
  const rules = [
    { tool: 'save_file', pattern: 'sub/secret*', decision: 'deny' },
    { tool: 'apply_patch', pattern: 'sub/secret*', decision: 'deny' },
  ];
  writeFileSync(config, JSON.stringify({ rules }));
  server = await startTestServer({ PARLANCE_CONFIG: config, TOOL_USE_APPROVAL_MODE: 'auto-edit' });
  mkdirSync(join(server.root, 'sub/deep'), { recursive: true });
  mkdirSync(join(server.root, 'other'));
  writeFileSync(join(server.root, 'sub/inside.txt'), 'found inside');
  writeFileSync(join(server.root, 'above.txt'), 'found above');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const send = (session: string, command: object) =>
  postJson(`${server.http}/v1/sessions/${session}/commands`, command);

async function createdIn(cwd: string): Promise<string> {
  const session = crypto.randomUUID();
  const { status } = await send(session, { type: 'session.create', cwd });
  expect(status).toBe(200);
  return session;
}

type Settled = DurableEvent<'approval.requested' | 'tool.ended'>;
const isSettled = (event: DurableEvent): event is Settled =>
  event.type === 'approval.requested' || event.type === 'tool.ended';

/** The first event about the call. */
async function call(session: string, tool: string, input: object): Promise<Settled | undefined> {
  const { status } = await send(session, { type: 'input.submit', parts: [], call: { tool, input } });
  expect(status).toBe(200);
  const events = await followed(server, session, (so) => so.some(isSettled));
  return events.find(isSettled);
}

const resultIn = async (cwd: string, tool: string, input: object): Promise<string> =>
  JSON.stringify(await call(await createdIn(cwd), tool, input));

describe('tools of a session with a folder', () => {
  const sub = () => join(server.root, 'sub');

  test('work there', async () => {
    expect(await resultIn(sub(), 'shell', { command: ['pwd'] })).toContain(`${sub()}\\n`);
    expect(await resultIn(sub(), 'read_file', { path: 'inside.txt' })).toContain('found inside');
    expect(await resultIn(sub(), 'list_files', {})).toContain('inside.txt');
    expect(await resultIn(sub(), 'search_files', { query: 'found' })).not.toContain('above');
    await resultIn(sub(), 'save_file', { path: 'new.txt', content: 'new' });
    expect(existsSync(join(sub(), 'new.txt'))).toBeTrue();
  });

  test('do not leave it, although it is inside the working directory of the server', async () => {
    expect(await resultIn(sub(), 'read_file', { path: '../above.txt' })).toContain('outside');
    expect(await resultIn(sub(), 'read_file', { path: join(server.root, 'above.txt') })).toContain('outside');
    expect(await resultIn(sub(), 'shell', { command: ['cat', '../above.txt'] })).toContain(
      'approval.requested',
    );
  });

  test('show it to the person who approves', async () => {
    const asked = await call(await createdIn(sub()), 'shell', { command: ['touch', 'x'] });
    expect(asked).toMatchObject({ ask: { description: `Runs touch x. Working folder: ${sub()}` } });
  });

  test('are subject to rules about paths relative to the server’s working directory', async () => {
    const content = 'x';
    expect(await resultIn(sub(), 'save_file', { path: 'secret.txt', content })).toContain('denied');
    const patch = '*** Begin Patch\n*** Add File: secret.txt\n+x\n*** End Patch';
    expect(await resultIn(sub(), 'apply_patch', { patch })).toContain('denied');
    const deep = join(sub(), 'deep');
    expect(await resultIn(deep, 'save_file', { path: 'secret.txt', content })).toContain('"outcome":"ok"');
  });

  test.skipIf(!hasSandbox)('cannot write beside it, approved or not', async () => {
    const session = await createdIn(sub());
    const command = ['sh', '-c', 'echo x > here; echo x > ../other/there; echo x > ../there'];
    const asked = await call(session, 'shell', { command });
    if (asked?.type !== 'approval.requested') throw new Error('not asked');
    await send(session, { type: 'approval.answer', approval: asked.approval, answer: 'once' });
    await followed(server, session, (so) => so.some(({ type }) => type === 'tool.ended'));
    expect(existsSync(join(sub(), 'here'))).toBeTrue();
    expect(existsSync(join(server.root, 'other/there'))).toBeFalse();
    expect(existsSync(join(server.root, 'there'))).toBeFalse();
  });

  test('fail if it was replaced with a link or removed', async () => {
    const swapped = join(server.root, 'swapped');
    mkdirSync(swapped);
    const session = await createdIn(swapped);
    renameSync(swapped, join(server.root, 'moved'));
    symlinkSync(folder, swapped);
    const result = await call(session, 'read_file', { path: 'config.json' });
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(JSON.stringify(result)).toContain('The folder of this session');
  });
});

test('a folder outside of the allowed ones is refused, and no session is created', async () => {
  for (const cwd of ['sub', '/', folder, join(server.root, 'nothing'), join(server.root, 'above.txt')]) {
    const session = crypto.randomUUID();
    const { status, body } = await send(session, { type: 'session.create', cwd });
    expect([status, body]).toMatchObject([400, { error: { code: 'invalid' } }]);
    expect((await fetch(`${server.http}/v1/sessions/${session}`)).status).toBe(404);
  }
});

test('a session keeps its folder after a restart', async () => {
  const session = await createdIn(join(server.root, 'sub'));
  const created = await followed(server, session, (so) => so.length > 0);
  expect(created[0]).toMatchObject({ type: 'session.created', cwd: join(server.root, 'sub') });
});
