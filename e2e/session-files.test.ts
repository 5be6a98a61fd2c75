/** Files of working folders over HTTP: the same limits as those of the file tools. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileList, FileVersion } from '../packages/protocol/src/api.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { followed } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-files-'));
let server: TestServer;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  const config = join(folder, 'config.json');
  const rules = [
    { tool: 'read_file', pattern: '*secret*', decision: 'deny' },
    { tool: 'read_file', pattern: '*guarded*', decision: 'ask' },
    { tool: 'list_files', pattern: '*vault*', decision: 'deny' },
  ];
  const agents = [
    { id: 'talker', name: 'Talker', description: 'Talks.', instructions: 'Talk.', tools: ['echo'] },
  ];
  const domains = [
    { id: 'talk', name: 'Talk', description: 'Talk.', defaultAgent: 'talker', agents: ['talker'] },
  ];
  writeFileSync(config, JSON.stringify({ rules, agents, domains }));
  server = await startTestServer({
    PARLANCE_CONFIG: config,
    PARLANCE_AUTH: 'required',
    TOOL_USE_APPROVAL_MODE: 'auto-edit',
  });
  for (const name of ['ada', 'dev', 'uma']) tokens[name] = await server.login(name, `${name}-password`);
  const at = (path: string) => join(server.root, path);
  mkdirSync(at('src/deep'), { recursive: true });
  mkdirSync(at('node_modules/left-pad'), { recursive: true });
  mkdirSync(at('vault'));
  mkdirSync(at('.git'));
  writeFileSync(at('.gitignore'), 'dist/\n');
  mkdirSync(at('dist'));
  writeFileSync(at('dist/built.js'), 'built');
  writeFileSync(at('node_modules/left-pad/main.js'), 'package');
  writeFileSync(at('src/main.ts'), 'export {};\n');
  writeFileSync(at('src/deep/domain.ts'), 'domain');
  writeFileSync(at('page.html'), '<script>alert(1)</script>');
  writeFileSync(at('grüße "x".txt'), '0123456789');
  writeFileSync(at('secret.txt'), 'secret');
  writeFileSync(at('guarded.txt'), 'guarded');
  writeFileSync(join(folder, 'outside.txt'), 'outside');
  symlinkSync(join(folder, 'outside.txt'), at('way-out'));
  symlinkSync(folder, at('folder-out'));
  symlinkSync('src/main.ts', at('way-in'));
  Bun.spawnSync(['mkfifo', at('pipe')]);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Options = { readonly as?: string; readonly headers?: Record<string, string>; readonly method?: string };

const get = (
  path: string,
  query: Record<string, string>,
  { as = 'dev', headers, method }: Options = {},
): Promise<Response> =>
  fetch(`${server.http}/v1/files${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${tokens[as]}`, ...headers },
    ...(method && { method }),
  });
const list = async (query: Record<string, string>) => (await (await get('', query)).json()) as FileList;
const read = (path: string, options: Options & { readonly session?: string } = {}) =>
  get('/content', { path, ...(options.session && { session: options.session }) }, options);

async function sent(session: string, command: object, { key }: { key?: string } = {}): Promise<void> {
  const { status } = await fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${tokens.dev}`,
      ...(key && { 'idempotency-key': key }),
    },
    body: JSON.stringify(command),
  });
  expect(status).toBe(200);
}

describe('a list', () => {
  test('has folders first, with sizes, and links as links', async () => {
    const { entries = [], complete } = await list({});
    expect(complete).toBe(true);
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      '.git folder',
      'dist folder',
      'node_modules folder',
      'src folder',
      'vault folder',
      '.gitignore file',
      'folder-out link',
      'grüße "x".txt file',
      'guarded.txt file',
      'page.html file',
      'pipe other',
      'secret.txt file',
      'way-in link',
      'way-out link',
    ]);
    expect(entries.find(({ name }) => name === 'grüße "x".txt')?.size).toBe(10);
    expect((await list({ path: 'src' })).entries?.map(({ name }) => name)).toEqual(['deep', 'main.ts']);
  });

  test('finds paths, the name first, without what git ignores', async () => {
    expect((await list({ q: 'main' })).paths).toEqual(['src/main.ts', 'src/deep/domain.ts']);
    expect((await list({ q: 'SRC/MA' })).paths?.[0]).toBe('src/main.ts');
    expect((await list({ q: 'srcmain' })).paths).toEqual(['src/main.ts', 'src/deep/domain.ts']);
    expect((await list({ q: 'deep' })).paths).toEqual(['src/deep/', 'src/deep/domain.ts']);
    expect((await list({ q: 'built' })).paths).toEqual([]);
    expect((await list({ q: 'left-pad' })).paths).toEqual([]);
    utimesSync(join(server.root, 'src/main.ts'), 4_000_000_000, 4_000_000_000);
    expect((await list({ q: '' })).paths?.[0]).toBe('src/main.ts');
  });
});

describe('content', () => {
  test('is sent so that nothing of it runs', async () => {
    const answer = await read('page.html');
    expect(await answer.text()).toBe('<script>alert(1)</script>');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'content-disposition': "attachment; filename*=UTF-8''page.html",
    });
    expect((await read('grüße "x".txt')).headers.get('content-disposition')).toBe(
      "attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%22x%22.txt",
    );
  });

  test('has ranges and an entity tag, which a write changes', async () => {
    const path = 'grüße "x".txt';
    const whole = await read(path);
    const etag = whole.headers.get('etag') ?? '';
    expect([await whole.text(), whole.headers.get('accept-ranges')]).toEqual(['0123456789', 'bytes']);
    const part = await read(path, { headers: { range: 'bytes=2-4', 'if-range': etag } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ]);
    expect((await read(path, { headers: { range: 'bytes=10-' } })).status).toBe(416);
    expect((await read(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const head = await read(path, { method: 'HEAD' });
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag]);
    writeFileSync(join(server.root, path), '0123456789');
    expect((await read(path, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });

  test('is read at the pace of the client, and the file is closed when the client leaves', async () => {
    writeFileSync(join(server.root, 'large'), '');
    truncateSync(join(server.root, 'large'), 500 * 1024 * 1024);
    const openFiles = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).endsWith('/large');
        } catch {
          return false;
        }
      }).length;
    const answer = await read('large');
    const reader = answer.body?.getReader();
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    expect(openFiles()).toBe(1);
    await reader?.cancel();
    await until(() => openFiles() === 0);
    await read('large', { method: 'HEAD' });
    await read('large', { headers: { range: 'bytes=999999999-' } });
    await until(() => openFiles() === 0);
    truncateSync(join(server.root, 'large'), 1025 * 1024 * 1024);
    expect((await read('large')).status).toBe(413);
    await until(() => openFiles() === 0);
    rmSync(join(server.root, 'large'));
  });
});

describe('refused', () => {
  test.each([
    '../outside.txt',
    '/etc/passwd',
    'src/../../x',
    'way-out',
    'folder-out/outside.txt',
    'missing',
    'src',
    'pipe',
    'a\0b',
  ])('%j', async (path) => {
    const answer = await read(path);
    expect([answer.status, await answer.text()]).toEqual([404, expect.not.stringContaining('outside\n')]);
    expect((await get('', { path })).status).toBe(path === 'src' ? 200 : 404);
  });

  test('files of the server, under any name', async () => {
    linkSync(join(folder, 'config.json'), join(server.root, 'linked.json'));
    expect((await read('linked.json')).status).toBe(404);
    rmSync(join(server.root, 'linked.json'));
  });

  test('what a rule denies, and without the permission to approve what it asks about', async () => {
    for (const path of ['secret.txt', './src/../secret.txt']) expect((await read(path)).status).toBe(403);
    expect((await get('', { path: 'vault' })).status).toBe(403);
    expect((await read('guarded.txt')).status).toBe(200);
    expect((await read('guarded.txt', { as: 'uma' })).status).toBe(403);
    expect((await read('page.html', { as: 'uma' })).status).toBe(200);
  });

  test('an agent without the tools for it', async () => {
    expect((await get('', { agent: 'talker' })).status).toBe(403);
    const session = crypto.randomUUID();
    await sent(session, { type: 'session.create', domain: 'talk' });
    expect((await get('', { session })).status).toBe(403);
    expect((await read('page.html', { session })).status).toBe(403);
  });

  test('a folder outside of the working directory', async () => {
    expect((await get('', { cwd: folder })).status).toBe(400);
    const { entries } = await list({ cwd: join(server.root, 'src') });
    expect(entries?.map(({ name }) => name)).toEqual(['deep', 'main.ts']);
  });

  test('the session of somebody else', async () => {
    const session = crypto.randomUUID();
    await sent(session, { type: 'session.create', cwd: join(server.root, 'src') });
    expect((await list({ session })).entries?.map(({ name }) => name)).toEqual(['deep', 'main.ts']);
    expect((await get('', { session }, { as: 'uma' })).status).toBe(404);
    expect((await get('', { session }, { as: 'ada' })).status).toBe(200);
    expect((await get('', {}, { headers: { authorization: '' } })).status).toBe(401);
  });
});

describe('versions', () => {
  const versionsOf = async (session: string, path: string, as = 'dev') =>
    (await (await get('/versions', { session, path }, { as })).json()) as { versions: FileVersion[] };
  const call = async (session: string, tool: string, input: object) => {
    const key = crypto.randomUUID();
    await sent(session, { type: 'input.submit', parts: [], call: { tool, input } }, { key });
    const target = { http: server.http, headers: { authorization: `Bearer ${tokens.dev}` } };
    await followed(target, session, (events) => {
      const turn = events.findIndex((event) => event.type === 'input.accepted' && event.key === key);
      return turn !== -1 && events.slice(turn).some(({ type }) => type === 'turn.ended');
    });
  };

  test('are what calls of the session have made of a file, and only of that file', async () => {
    writeFileSync(join(server.root, 'notes.md'), 'zero');
    const session = crypto.randomUUID();
    await call(session, 'save_file', { path: 'notes.md', content: 'one' });
    await call(session, 'save_file', { path: 'notes.md', content: 'two' });
    await call(session, 'save_file', { path: 'other.md', content: 'other' });
    const { versions } = await versionsOf(session, './notes.md');
    const texts = await Promise.all(
      versions.map(async ({ version }) =>
        (await get('/content', { session, path: 'notes.md', version })).text(),
      ),
    );
    expect(texts).toEqual(['zero', 'one', 'two']);
    expect(versions.map(({ by }) => by !== undefined)).toEqual([false, true, true]);
    expect(versions.map(({ isCurrent = false }) => isCurrent)).toEqual([false, false, true]);
    const [other] = (await versionsOf(session, 'other.md')).versions;
    const wrong = { session, path: 'notes.md', version: other?.version ?? '' };
    expect((await get('/content', wrong)).status).toBe(404);
    const another = crypto.randomUUID();
    await sent(another, { type: 'session.create' });
    expect((await versionsOf(another, 'notes.md')).versions).toEqual([]);
    expect((await get('/content', { ...wrong, session: another })).status).toBe(404);
    expect((await get('/versions', { session, path: 'notes.md' }, { as: 'uma' })).status).toBe(404);
    expect((await get('/versions', { session, path: '../x' })).status).toBe(404);
  });
});
