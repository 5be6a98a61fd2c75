/** Tests of the build: loads everything that the build loads lazily. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../packages/server/src/testing/until.ts';

const ROOT = join(import.meta.dir, '..');
const DIST = join(ROOT, 'packages/cli/dist');
const folder = mkdtempSync(join(tmpdir(), 'parlance-built-'));
const clean = { PATH: process.env.PATH ?? '', HOME: folder };

beforeAll(async () => {
  const build = Bun.spawn(['sh', join(ROOT, 'scripts/build-if-stale')], {
    env: { PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
    stderr: 'pipe',
  });
  expect([await build.exited, await build.stderr.text()]).toEqual([0, '']);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(name: string, args: readonly string[], input = '') {
  const child = Bun.spawn([process.execPath, join(DIST, name), ...args], {
    cwd: folder,
    env: clean,
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

test('the server answers on every listener, and lazily loaded modules are included', async () => {
  const spans = Promise.withResolvers<string>();
  await using collector = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      spans.resolve(new URL(request.url).pathname);
      await request.arrayBuffer();
      return new Response();
    },
  });
  mkdirSync(join(folder, 'data'));
  writeFileSync(
    join(folder, 'data/config.json'),
    JSON.stringify({
      mcpServers: {
        everything: {
          command: process.execPath,
          args: [join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
        },
      },
    }),
  );
  const server = Bun.spawn([process.execPath, join(DIST, 'main.js'), 'serve'], {
    cwd: folder,
    env: {
      ...clean,
      PORT: '0',
      PARLANCE_DATA: join(folder, 'data'),
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.href,
    },
    stdout: 'pipe',
    stderr: Bun.file(join(folder, 'log')),
  });
  try {
    const first = (await server.stdout.getReader().read()).value ?? new Uint8Array();
    const http = /http:\S+/.exec(new TextDecoder().decode(first))?.[0] ?? '';
    const documented = (await (await fetch(`${http}/openapi.json`)).json()) as { openapi: string };
    expect(documented.openapi).toStartWith('3.');
    const page = await fetch(http);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const session = crypto.randomUUID();
    const asked = await fetch(`${http}/v1/sessions/${session}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'input.submit', parts: [{ type: 'text', text: 'Hello' }] }),
    });
    expect(asked.status).toBeLessThan(300);
    await until(async () => (await Bun.file(join(folder, 'log')).text()).includes('everything'));
    server.kill('SIGTERM');
    expect(await spans.promise).toBe('/v1/traces');
    expect(await server.exited).toBe(0);
  } finally {
    server.kill('SIGKILL');
    await server.exited;
  }
});

test('the page reader is included', async () => {
  const text = 'A page that has enough to say for someone who reads it to the end. '.repeat(10);
  const { code, stdout } = await run(
    'reader.js',
    ['https://site.test/'],
    `<html><head><title>Title</title></head><body><article><p>${text}</p></article></body></html>`,
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    title: 'Title',
    text: expect.stringContaining('enough to say'),
  });
});

test('the Markdown renderer is included', async () => {
  const { code, stdout } = await run('renderer.js', [], '"*a*"\nnull\n');
  expect(code).toBe(0);
  expect(stdout).toBe('"<p><em>a</em></p>\\n"\nnull\n');
});

test('the search without ripgrep is included', async () => {
  writeFileSync(join(folder, 'found.txt'), 'one\ntwo needles\n');
  expect(await run('plain.js', ['needle', 'text', folder, 'found.txt'])).toEqual({
    code: 0,
    stdout: 'found.txt\x002:two needles\n',
    stderr: '',
  });
});
