/** The console as an installed app: its service worker opens it while the server cannot be reached. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'bun';
import { Hono } from 'hono';
import type { Page } from 'playwright-core';
import { CONSOLE_FOLDER } from '../../packages/server/src/console-folder.ts';
import { consoleRoutes } from '../../packages/server/src/http/console.ts';
import { launchWholeBrowser, NO_BROWSER } from './chromium.ts';
import { type Console, holds, openConsole, submitInput, visible } from './console.ts';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';

let app: Console;
let proxy: CuttingProxy;

const first = (page: Page) => page.getByRole('heading', { name: 'What can I do for you?' });
const installed = (page: Page) => holds(page, '(await navigator.serviceWorker.getRegistration())?.active');

/** The paths of all answers that the page has stored. */
const kept = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const paths = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
    return paths.sort();
  })()`);

describe.skipIf(NO_BROWSER)('installed', () => {
  beforeAll(async () => {
    app = await openConsole({}, launchWholeBrowser);
    proxy = await cuttingProxy(app.server.http);
  });
  afterAll(async () => {
    await proxy?.stop();
    await app?.stop();
  });

  test('the manifest is complete, and every icon has the size that it names', async () => {
    const page = await app.open('/', { serviceWorkers: 'allow' });
    const devtools = await page.context().newCDPSession(page);
    const { url, errors, data = '{}' } = await devtools.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    const { name, start_url, display, icons } = JSON.parse(data);
    expect({ name, start_url, display }).toEqual({
      name: 'Parlance',
      start_url: '/',
      display: 'standalone',
    });
    const sizes = [];
    for (const { src, type, purpose = 'any' } of icons) {
      const response = await fetch(new URL(src, url));
      expect([src, response.headers.get('content-type')]).toEqual([src, type]);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (type === 'image/png') sizes.push([bytes.readUInt32BE(16), bytes.readUInt32BE(20), purpose]);
    }
    expect(sizes).toEqual([
      [192, 192, 'any'],
      [512, 512, 'any'],
      [512, 512, 'maskable'],
    ]);
    await installed(page);
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
    // Windows of tests are private ones, which install nothing.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito']);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('the page opens without the server, says so once, and connects by itself', async () => {
    const page = await app.open('/', { at: proxy.http, serviceWorkers: 'allow' });
    await visible(first(page));
    await installed(page);
    proxy.cut();
    await page.reload();
    await visible(page.getByRole('heading', { name: 'Cannot reach the server' }));
    expect(await page.getByText(/reach the server|not connected|offline/i).count()).toBe(1);
    proxy.restore();
    await visible(first(page));
    app.problems(); // the browser reports the refused requests
    await page.context().close();
  });

  test('only the files of the page are kept, whatever is read', async () => {
    await submitInput(app.server, 'private', 'a private message');
    const page = await app.open('/', { serviceWorkers: 'allow' });
    await installed(page);
    await page.reload();
    for (const path of ['/sessions/private', '/timeline/private', '/admin', '/settings']) {
      await page.goto(`${app.server.http}/#${path}`);
      await visible(page.getByRole('heading', { level: 1 }));
    }
    const paths = await kept(page);
    expect(paths[0]).toBe('/');
    expect(paths.slice(1).filter((path) => !path.startsWith('/assets/'))).toEqual([]);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('a new build is shown by the next reload, and replaces what is kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-build-'));
    cpSync(CONSOLE_FOLDER, folder, { recursive: true });
    const routes = new Hono();
    consoleRoutes(routes, folder);
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: routes.fetch });
    const page = await app.browser.newPage();
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await installed(page);
    await rebuild(folder);
    await page.reload();
    await page.locator('meta[name="generator"][content="next"]').waitFor({ state: 'attached' });
    await holds(page, "(await caches.keys()).join() === 'parlance-shell-next'");
    await server.stop(true);
    await page.reload();
    await page.locator('meta[name="generator"][content="next"]').waitFor({ state: 'attached' });
    await page.close();
    rmSync(folder, { recursive: true });
  });
});

/** Changes the page and the service worker, as a build would. */
async function rebuild(folder: string): Promise<void> {
  const manifest = join(folder, 'manifest.json');
  const { files, ...rest } = await Bun.file(manifest).json();
  const change = async (path: string, by: (text: string) => string) => {
    const text = by(await Bun.file(join(folder, path)).text());
    await Bun.write(join(folder, `${path}.gz`), gzipSync(text));
    files[path].etag = `"${Bun.hash(text)}"`;
  };
  await change('index.html', (page) =>
    page.replace('<title>', '<meta name="generator" content="next"><title>'),
  );
  await change('service-worker.js', (script) => script.replace(/name:"[^"]+"/g, 'name:"next"'));
  await Bun.write(manifest, JSON.stringify({ files, ...rest }));
  utimesSync(manifest, new Date(), new Date(Date.now() + 5_000));
}
