/** A lost connection is reported once on every page, and nothing else is in the way until it is back. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, holds, openConsole, removed, signInAs, submitInput, visible } from './console.ts';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';
import { layoutProblems } from './layout.ts';

let app: Console;
let proxy: CuttingProxy;
let page: Page;

const bar = () => page.getByRole('status').filter({ hasText: /^(Not connected|Reconnecting)/ });

/** Texts that report the lost connection, each by its innermost element. */
const REPORTS = `(() => {
  const told = /not connected|reconnecting|disconnected|cannot reach|connection was lost|offline\\b(?! demo)/i;
  const isShown = (element) => element.checkVisibility() && !element.closest('.unseen, option');
  return [...document.querySelectorAll('body *')]
    .filter((element) => isShown(element) && [...element.childNodes]
      .some((node) => node.nodeType === Node.TEXT_NODE && told.test(node.textContent)))
    .map((element) => element.textContent);
})()`;

/** What a browser logs about requests that fail. */
const expected = /net::ERR_/;

describe.skipIf(NO_BROWSER)('offline', () => {
  beforeAll(async () => {
    // The name of the offline model would look like a report.
    app = await openConsole({ PROVIDER: 'openai', MODEL: 'some-model', OPENAI_API_KEY: 'key' });
    proxy = await cuttingProxy(app.server.http);
    await submitInput(app.server, 'kept', 'hello');
    page = await app.open('/', { at: proxy.http, serviceWorkers: 'allow' });
    await signInAs(page, 'ada');
    await holds(page, '(await navigator.serviceWorker.getRegistration())?.active');
    await page.reload();
  });
  afterAll(async () => {
    await proxy?.stop();
    await app?.stop();
  });
  afterEach(() => expect(app.problems().filter((problem) => !expected.test(problem))).toEqual([]));

  const goTo = async (path: string) => {
    await page.goto(`${proxy.http}/#${path}`);
    await visible(page.getByRole('heading', { level: 1 }));
  };

  async function mend(): Promise<void> {
    proxy.restore();
    const retry = page.getByRole('button', { name: 'Try now' }).click({ timeout: 2_000 });
    // It may reconnect before.
    await retry.catch(() => undefined);
    await removed(bar());
    expect(await page.evaluate(REPORTS)).toEqual([]);
  }

  test.each(['/sessions/kept', '/timeline/kept', '/admin?section=listeners'])(
    '%s reports it once, and recovers',
    async (path) => {
      await goTo(path);
      proxy.cut();
      await visible(bar());
      // The page has polled by then.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1500))');
      expect(await page.evaluate(REPORTS)).toHaveLength(1);
      expect(await layoutProblems(page)).toEqual([]);
      await mend();
    },
  );

  test('pages that are opened meanwhile report it once', async () => {
    const paths = [
      '/',
      '/approvals',
      '/timeline',
      '/settings',
      '/admin?section=metrics',
      '/admin?section=users',
    ];
    await goTo('/');
    proxy.cut();
    await visible(bar());
    for (const path of paths) {
      await goTo(path);
      expect([path, await page.evaluate(REPORTS)]).toEqual([path, [expect.any(String)]]);
    }
    await mend();
    await visible(page.getByRole('listitem').filter({ hasText: 'uma' }));
  });
});
