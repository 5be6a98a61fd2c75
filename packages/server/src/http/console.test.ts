import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'bun';
import { Hono } from 'hono';
import { startTestServer } from '../testing/server.ts';
import { consoleRoutes } from './console.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const PAGE = '<!doctype html><title>built</title>';

async function built(page = PAGE): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-console-'));
  folders.push(folder);
  mkdirSync(join(folder, 'assets'));
  const write = async (path: string, text: string) => {
    await Bun.write(join(folder, path), text);
    await Bun.write(join(folder, `${path}.gz`), gzipSync(text));
  };
  await write('index.html', page);
  await write('assets/main-1.js', 'run()');
  await write('assets/preview-1.html', '<title>Preview</title>');
  await Bun.write(join(folder, 'secret.txt'), 'not listed');
  await list(folder, '"one"');
  return folder;
}

const list = (folder: string, etag: string) =>
  Bun.write(
    join(folder, 'manifest.json'),
    JSON.stringify({
      files: {
        'index.html': { type: 'text/html', etag },
        'assets/main-1.js': { type: 'text/javascript', etag: '"two"' },
        'assets/preview-1.html': { type: 'text/html', etag: '"three"' },
      },
    }),
  );

function serving(folder: string) {
  const app = new Hono();
  consoleRoutes(app, folder);
  return (path: string, headers: Record<string, string> = {}) =>
    app.fetch(new Request(`http://127.0.0.1:3000${path}`, { headers }));
}

test('the content security policy allows only our own resources', async () => {
  const page = await serving(await built())('/');
  expect([page.status, await page.text()]).toEqual([200, PAGE]);
  const policy = page.headers.get('content-security-policy')?.split('; ') ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("connect-src 'self' ws://127.0.0.1:3000 wss://127.0.0.1:3000");
  expect(policy.join()).not.toContain('unsafe');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cache-control')).toBe('no-cache');
});

test('a page of others reaches nothing but public origins that its address names, and never this server', async () => {
  const ask = serving(await built());
  const policyOf = async (query: string) =>
    (await ask(`/assets/preview-1.html${query}`)).headers.get('content-security-policy')?.split('; ') ?? [];
  const alone = await policyOf('');
  expect(alone).toContain('sandbox allow-scripts');
  expect(alone).toContain("default-src 'none'");
  expect(alone).toContain("script-src 'unsafe-inline'");
  expect(alone.join()).not.toMatch(/connect-src|https:|'self'(?!$)/);
  const wide = await policyOf('?connect=https://api.example.com&load=https://*.example.org');
  expect(wide).toContain('connect-src https://api.example.com');
  expect(wide).toContain("script-src 'unsafe-inline' https://*.example.org");
  for (const origin of [
    'http://127.0.0.1:3000',
    '*',
    "'self'",
    'https://a.example; sandbox allow-same-origin',
  ])
    expect(
      await policyOf(`?connect=${encodeURIComponent(origin)}&load=${encodeURIComponent(origin)}`),
    ).toEqual(alone);
});

test('unchanged files are not sent again, and files are compressed if the browser accepts it', async () => {
  const ask = serving(await built());
  expect((await ask('/', { 'if-none-match': '"one"' })).status).toBe(304);
  const packed = await ask('/assets/main-1.js', { 'accept-encoding': 'br, gzip' });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(packed.headers.get('cache-control')).toContain('immutable');
  expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe('run()');
  expect(await (await ask('/assets/main-1.js')).text()).toBe('run()');
});

test('only files in the manifest are served', async () => {
  const ask = serving(await built());
  for (const path of ['/assets/..%2fsecret.txt', '/assets/secret.txt', '/assets/constructor', '/secret.txt'])
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
});

test('a rebuilt console is served without a restart', async () => {
  const folder = await built();
  const ask = serving(folder);
  expect((await ask('/')).headers.get('etag')).toBe('"one"');
  await list(folder, '"three"');
  utimesSync(join(folder, 'manifest.json'), new Date(), new Date(Date.now() + 5_000));
  expect((await ask('/')).headers.get('etag')).toBe('"three"');
});

test('without a build, the page explains how to build it', async () => {
  const page = await serving(join(tmpdir(), 'nothing-was-built-here'))('/');
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('npm run build');
});

test('a socket at the address of the console is served in its dialect', async () => {
  const server = await startTestServer();
  const client = await server.connect('/');
  client.send({ type: 'user_input', id: '1', payload: { input: [] } });
  expect(await client.next('error')).toBeDefined();
  await server.stop();
});
