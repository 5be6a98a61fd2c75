import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { Log } from '../core/index.ts';
import { until } from '../testing/until.ts';
import { docsRoutes } from './docs.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-docs-'));
const app = new Hono();
const warnings: object[] = [];
const ignore = (): void => undefined;
const log: Log = {
  debug: ignore,
  info: ignore,
  error: ignore,
  warn: (fields: object) => void warnings.push(fields),
};
const FILES = {
  'index.html': '<h1>Start</h1>',
  'decisions/index.html': '<h1>Decisions</h1>',
  'guides/models.html': '<h1>Models</h1>',
  '404.html': '<h1>Not found</h1>',
  'assets/app.1.js': 'export {};',
};

beforeAll(() => {
  const files: Record<string, object> = {};
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
    writeFileSync(join(folder, `${path}.gz`), Bun.gzipSync(text));
    const type = path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8';
    files[path] = { type, etag: `"${path}"` };
  }
  writeFileSync(join(folder, 'secret.txt'), 'not listed');
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ files, scripts: ['aGFzaA=='] }));
  docsRoutes(app, folder, join(folder, 'no-builder.ts'), log);
});
afterAll(() => rmSync(folder, { recursive: true }));

const get = (path: string, headers: Record<string, string> = {}) =>
  app.fetch(new Request(`http://127.0.0.1${path}`, { headers }));

test('serves the pages that were built, with a policy that allows their own scripts', async () => {
  for (const path of ['/docs/', '/docs/index.html'])
    expect(await (await get(path)).text()).toContain('Start');
  expect(await (await get('/docs/decisions/')).text()).toContain('Decisions');
  const page = await get('/docs/guides/models.html');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self' 'sha256-aGFzaA=='");
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const script = await get('/docs/assets/app.1.js', { 'accept-encoding': 'gzip' });
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('cache-control')).toContain('immutable');
  expect(script.headers.get('content-encoding')).toBe('gzip');
  expect((await get('/docs/', { 'if-none-match': '"index.html"' })).status).toBe(304);
});

test('/docs leads to /docs/', async () => {
  const response = await get('/docs');
  expect(response.status).toBe(308);
  expect(response.headers.get('location')).toBe('/docs/');
});

test.each([
  ['/docs/guides/models', '/docs/guides/models.html'],
  ['/docs/guides/models.md', '/docs/guides/models.html'],
  ['/docs/README.md', '/docs/index.html'],
  ['/docs/decisions', '/docs/decisions/index.html'],
  ['/docs/decisions/README.md', '/docs/decisions/index.html'],
  ['/docs/decisions/README.html', '/docs/decisions/index.html'],
])('%s leads to %s', async (path, page) => {
  const response = await get(path);
  expect([response.status, response.headers.get('location')]).toEqual([308, page]);
});

test.each([
  '/docs/missing.html',
  '/docs/missing',
  '/docs/secret.txt',
  '/docs/manifest.json',
  '/docs/..%2f..%2fetc%2fpasswd',
  '/docs/%2e%2e/secret.txt',
  '/docs/__proto__',
])('responds with the not-found page for unlisted paths: %s', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain('not listed');
});

test('explains how to build the documentation if there is no build', async () => {
  const unbuilt = new Hono();
  docsRoutes(unbuilt, join(folder, 'nothing'), join(folder, 'no-builder.ts'), log);
  const response = await unbuilt.fetch(new Request('http://127.0.0.1/docs/'));
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('npm run build:docs');
});

describe('in a clone', () => {
  const ask = async (clone: Hono) => {
    const response = await clone.fetch(new Request('http://127.0.0.1/docs/'));
    return { status: response.status, text: await response.text() };
  };

  test('the documentation is built when it is first asked for, without the keys of the server', async () => {
    const built = join(folder, 'clone/dist');
    const builder = join(folder, 'build.ts');
    writeFileSync(
      builder,
      `await Bun.write('${built}/index.html.gz', Bun.gzipSync('Built ' + process.env.OPENAI_API_KEY));
      await Bun.write('${built}/manifest.json', JSON.stringify({
        files: { 'index.html': { type: 'text/html; charset=utf-8', etag: '"1"' } },
      }));`,
    );
    process.env.OPENAI_API_KEY = 'secret';
    const clone = new Hono();
    docsRoutes(clone, built, builder, log);
    expect(await ask(clone)).toEqual({ status: 503, text: expect.stringContaining('is being built') });
    const page = await until(async () => {
      const asked = await ask(clone);
      return asked.status === 200 && asked;
    });
    delete process.env.OPENAI_API_KEY;
    expect(page.text).toBe('Built undefined');
  });

  test('a build that fails is tried once, and the page says how to build it', async () => {
    const builder = join(folder, 'fail.ts');
    writeFileSync(builder, `console.error('no network'); process.exit(1);`);
    const clone = new Hono();
    docsRoutes(clone, join(folder, 'nothing'), builder, log);
    expect((await ask(clone)).text).toContain('is being built');
    await until(async () => (await ask(clone)).text.includes('npm run build:docs'));
    expect(warnings).toEqual([{ problem: 'no network\n' }]);
  });
});

test.each([
  ['bytes=0-3', 206, '<h1>', 'bytes 0-3/14'],
  ['bytes=4-', 206, 'Start</h1>', 'bytes 4-13/14'],
  ['bytes=-5', 206, '</h1>', 'bytes 9-13/14'],
  ['bytes=0-99', 206, '<h1>Start</h1>', 'bytes 0-13/14'],
  ['bytes=-99', 206, '<h1>Start</h1>', 'bytes 0-13/14'],
  ['bytes=14-', 416, '', 'bytes */14'],
  ['bytes=-0', 416, '', 'bytes */14'],
  ['bytes=3-1', 200, '<h1>Start</h1>', null],
  ['bytes=0-1,3-4', 200, '<h1>Start</h1>', null],
  ['lines=0-1', 200, '<h1>Start</h1>', null],
  ['bytes=-', 200, '<h1>Start</h1>', null],
])('the range %s is %i', async (range, status, text, contentRange) => {
  const response = await get('/docs/', { range, 'accept-encoding': 'gzip' });
  expect([response.status, await response.text(), response.headers.get('content-range')]).toEqual([
    status,
    text,
    contentRange,
  ]);
  expect(response.headers.get('accept-ranges')).toBe('bytes');
});

test('a range of a file that has changed is the whole file', async () => {
  const ranged = (etag: string) => get('/docs/', { range: 'bytes=0-3', 'if-range': etag });
  expect((await ranged('"index.html"')).status).toBe(206);
  expect((await ranged('"older"')).status).toBe(200);
});

test.each(['"other", "index.html"', 'W/"index.html"', '*'])('%s is what the client has', async (known) => {
  expect((await get('/docs/', { 'if-none-match': known })).status).toBe(304);
});
