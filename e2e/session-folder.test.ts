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

describe('a further folder of the operator', () => {
  let second: TestServer;
  const work = join(folder, 'projects');
  beforeAll(async () => {
    mkdirSync(join(work, 'shop/src'), { recursive: true });
    second = await startTestServer({ PARLANCE_WORK_FOLDERS: work, PARLANCE_AUTH: 'required' });
  });
  afterAll(() => second?.stop());

  const as = async (name: string) => ({
    authorization: `Bearer ${await second.login(name, `${name}-password`)}`,
  });

  test('is listed for users, with the folders in it, and nothing outside of it', async () => {
    const headers = await as('uma');
    const list = async (path?: string) => {
      const query = path === undefined ? '' : `?${new URLSearchParams({ path })}`;
      const response = await fetch(`${second.http}/v1/folders${query}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    expect(await list()).toMatchObject({ status: 200, body: { path: null, folders: [second.root, work] } });
    expect(await list(join(work, 'shop'))).toEqual({
      status: 200,
      body: { path: join(work, 'shop'), parent: work, folders: [join(work, 'shop/src')], cut: false },
    });
    for (const path of ['/', folder, join(work, '..'), 'shop', `${work}/\0`, second.data])
      expect(await list(path)).toMatchObject({ status: 400, body: { error: { code: 'invalid' } } });
    expect((await fetch(`${second.http}/v1/folders`)).status).toBe(401);
  });

  test('is where the tools of a session of an editor work', async () => {
    const { authorization } = await as('dev');
    const client = await second.connect(`/acp?token=${authorization.slice('Bearer '.length)}`);
    const ask = async (id: number, method: string, params: object) => {
      client.send({ jsonrpc: '2.0', id, method, params });
      return client.next((frame) => frame.id === id);
    };
    await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
    expect(await ask(2, 'session/new', { cwd: folder, mcpServers: [] })).toHaveProperty('error');
    const made = await ask(3, 'session/new', { cwd: join(work, 'shop'), mcpServers: [] });
    const { sessionId } = made.result as { sessionId: string };
    const call = { type: 'input.submit', parts: [], call: { tool: 'list_files', input: {} } };
    const path = `${second.http}/v1/sessions/${sessionId}`;
    expect((await postJson(`${path}/commands`, call, { authorization })).status).toBe(200);
    const target = { ...second, headers: { authorization } };
    const events = await followed(target, sessionId, (so) => so.some(isSettled));
    expect(JSON.stringify(events.find(isSettled))).toContain('src');
  });
});
