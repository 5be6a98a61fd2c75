/** The React example of the SDK in a real browser, in StrictMode, with the real server. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { launchBrowser, NO_BROWSER } from '../console/chromium.ts';
import { removed, submitInput, visible } from '../console/console.ts';
import { type CuttingProxy, cuttingProxy } from '../console/cutting-proxy.ts';
import { getJson } from '../server-process.ts';

const EXAMPLE = join(import.meta.dir, '../../packages/sdk/examples/react.tsx');

let server: TestServer;
let browser: Browser;
let page: Page;
let site: Bun.Server<undefined>;
let proxy: CuttingProxy;
const problems: string[] = [];

const attached = async (session: string): Promise<number> => {
  const { attached } = await getJson<{ attached: Record<string, number> }>(
    `${server.http}/v1/sessions/${session}`,
  );
  return attached.native ?? 0;
};

describe.skipIf(NO_BROWSER)('the React hooks', () => {
  beforeAll(async () => {
    const built = await Bun.build({
      entrypoints: [EXAMPLE],
      target: 'browser',
      // Effects run twice in development only.
      define: { 'process.env.NODE_ENV': '"development"' },
    });
    const script = await built.outputs[0]?.text();
    site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) =>
        new URL(url).pathname === '/page.js'
          ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
          : new Response(
              '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>',
              {
                headers: { 'content-type': 'text/html' },
              },
            ),
    });
    [server, browser] = await Promise.all([startTestServer(), launchBrowser()]);
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      // The browser reports unsuccessful responses and lost connections as errors.
      const isNetwork = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isNetwork) problems.push(message.text());
    });
    proxy = await cuttingProxy(server.http);
    await page.goto(`${site.url}?server=${proxy.http}`);
  });
  afterEach(() => expect(problems.splice(0)).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await proxy?.stop();
    await server?.stop();
    site?.stop(true);
  });

  const chat = () => page.getByLabel('Chat');
  const send = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const titled = (title: string) => visible(page.getByRole('heading', { name: title, exact: true }));

  test('a session that does not exist is created by its first message, and its answer appears', async () => {
    await visible(page.getByRole('heading', { name: /^New session/ }));
    await send('count to 3');
    await titled('count to 3 (live)');
    await visible(chat().getByText('1 2 3', { exact: true }));
  });

  test('one connection is open, although effects ran twice', async () => {
    await until(async () => (await attached('react')) === 1);
  });

  test('an approval is shown and answered', async () => {
    await send('run touch react.txt');
    await visible(chat().getByText('touch react.txt', { exact: true }));
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await removed(page.getByRole('button', { name: 'Deny' }));
    await until(() => existsSync(join(server.root, 'react.txt')));
  });

  test('the list follows changes of other clients, and opens a session', async () => {
    await submitInput(server, 'elsewhere', 'count to 4');
    await page.getByLabel('Sessions').getByRole('button', { name: 'count to 4' }).click();
    await titled('count to 4 (live)');
    // The old socket closes by itself.
    await until(async () => (await attached('elsewhere')) === 1 && (await attached('react')) === 0);
  });

  test('a question is answered in a separate session, with its approval', async () => {
    const asked = page.getByLabel('Question', { exact: true });
    await asked.getByRole('textbox').fill('run touch asked.txt');
    await asked.getByRole('button', { name: 'Ask' }).click();
    await asked.getByRole('button', { name: 'Allow touch asked.txt' }).click();
    await visible(asked.getByText('(done)'));
    expect(existsSync(join(server.root, 'asked.txt'))).toBe(true);
    await asked.getByRole('textbox').fill('count to 6');
    await asked.getByRole('button', { name: 'Ask' }).click();
    await visible(asked.locator('output').getByText('1 2 3 4 5 6', { exact: true }));
  });

  test('a lost connection is shown, and missed messages appear after it', async () => {
    proxy.cut();
    await titled('count to 4 (waiting)');
    await submitInput(server, 'elsewhere', 'count to 8');
    proxy.restore();
    await visible(chat().getByText('1 2 3 4 5 6 7 8', { exact: true }));
    await titled('count to 4 (live)');
  });
});
