/** A long list of sessions scrolls to its end; only visible rows are in the document. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { until, waitLimit } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, removed, submitInput, visible } from './console.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { manySessions } from './long-session.ts';

/** More than are read again at once after a reconnect. */
const SESSIONS = 1_400;
/** More than the rows of a screen with its overscan. */
const MAX_ROWS = 60;

let folder: string;
let app: Console;

/** Scrolls a screen at a time until the oldest session is there; returns the most rows that were in the document. */
const scrollToEnd = () => `(async () => {
  const list = document.querySelector('.session-list');
  const rows = () => [...document.querySelectorAll('.session-row .session-title')];
  const deadline = performance.now() + ${waitLimit()};
  let most = 0;
  while (!rows().some(({ textContent }) => textContent === 'question 1')) {
    if (performance.now() > deadline) throw new Error('The oldest session did not appear.');
    list.scrollTop += list.clientHeight;
    await new Promise(requestAnimationFrame);
    most = Math.max(most, rows().length);
  }
  return most;
})()`;

describe.skipIf(NO_BROWSER)('many sessions', () => {
  beforeAll(async () => {
    folder = await manySessions(SESSIONS);
    app = await openConsole({ PARLANCE_DATA: folder });
  });
  afterAll(async () => {
    await app?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the list scrolls to the oldest session, and stays there when another one changes', async () => {
    const page = await app.open('/');
    await openSidebar(page);
    await visible(page.locator('.session-title').getByText(`question ${SESSIONS}`, { exact: true }));
    expect(await page.evaluate(scrollToEnd())).toBeLessThan(MAX_ROWS);
    await submitInput(app.server, 'session-500', 'what is new');
    await visible(page.locator('.session-title').getByText('question 1', { exact: true }));
    await page.locator('.session-list').evaluate((list) => Object.assign(list, { scrollTop: 0 }));
    await visible(page.getByRole('region', { name: 'Today' }).getByText('question 500', { exact: true }));
    expect(await page.locator('.session-row').count()).toBeLessThan(MAX_ROWS);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('the sessions in view stay where they are when others come and go above', async () => {
    const page = await app.open('/');
    await openSidebar(page);
    const list = page.locator('.session-list');
    await visible(page.locator('.session-title').getByText(`question ${SESSIONS - 10}`, { exact: true }));
    await list.evaluate((element) => Object.assign(element, { scrollTop: 1_000 }));
    const inView = page.locator('.session-title').getByText(`question ${SESSIONS - 40}`, { exact: true });
    await visible(inView);
    const topOf = async () => Math.round((await inView.boundingBox())?.y ?? 0);
    const heightOf = () => list.evaluate((element) => element.scrollHeight);
    // The second page, which is read at once, makes the list longer, too.
    await until(async () => (await heightOf()) > 100 * 30);
    const [top, height] = [await topOf(), await heightOf()];
    for (const name of ['one', 'two', 'three']) await submitInput(app.server, name, name);
    await until(async () => (await heightOf()) > height + 2 * 30);
    await until(async () => Math.abs((await topOf()) - top) < 2);
    for (const name of ['one', 'two', `session-${SESSIONS - 5}`])
      await fetch(`${app.server.http}/v1/sessions/${name}`, { method: 'DELETE' });
    await until(async () => (await heightOf()) < height + 2 * 30);
    await until(async () => Math.abs((await topOf()) - top) < 2);
    await page.context().close();
  });

  test('the sessions in view stay when the connection was lost, unless they were deleted', async () => {
    const proxy = await cuttingProxy(app.server.http);
    const page = await app.open('/', { at: proxy.http });
    await openSidebar(page);
    await visible(page.locator('.session-title').getByText(`question ${SESSIONS - 10}`, { exact: true }));
    await page.evaluate(scrollToEnd());
    const titled = (title: string) => page.locator('.session-title').getByText(title, { exact: true });
    const height = () => page.locator('.session-list').evaluate((element) => element.scrollHeight);
    const before = await height();
    proxy.cut();
    await visible(page.getByText(/^(Not connected|Offline|Reconnecting|Connecting again)/).first());
    await fetch(`${app.server.http}/v1/sessions/session-4`, { method: 'DELETE' });
    proxy.restore();
    await removed(titled('question 4'));
    for (const number of [1, 2, 3, 5, 6]) await visible(titled(`question ${number}`));
    expect(before - (await height())).toBeLessThan(100);
    await page.context().close();
    await proxy.stop();
    app.problems(); // the browser reports lost connections
  });

  test('a search shows a page of titles, and then the messages', async () => {
    const page = await app.open('/');
    await openSidebar(page);
    await page.getByRole('searchbox', { name: 'Search titles and messages' }).fill('question');
    await visible(page.getByRole('button', { name: 'Show more', exact: true }));
    await visible(page.getByRole('region', { name: 'Messages' }).getByRole('link').first());
    await page.context().close();
  });
});
