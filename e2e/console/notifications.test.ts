/** Desktop notifications, as the service worker shows them while the console is in the background. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { launchWholeBrowser, NO_BROWSER } from './chromium.ts';
import { type Console, holds, openConsole, submitInput, visible } from './console.ts';

let app: Console;
let page: Page;

/** Headless tabs are always visible, so the visibility is overridden. */
const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
    document.dispatchEvent(new Event('visibilitychange'))`);

const until = (expression: string): Promise<void> => holds(page, expression);

/** Tabs find out by a lock that none is visible, which the browser releases a moment later. */
const allHidden = (): Promise<void> =>
  until("(await navigator.locks.query()).held.every(({ name }) => name !== 'parlance.seen')");

/**
 * Collects what the console shows. Chromium drops a notification that `getNotifications` finds while it is being
 * displayed, so tests cannot wait by calling that.
 */
const COLLECT = `{
  const { prototype } = ServiceWorkerRegistration;
  const { showNotification } = prototype;
  window.collected = [];
  prototype.showNotification = async function (title, options) {
    await showNotification.call(this, title, options);
    window.collected.push(title + ' | ' + options.body);
  };
}`;

/** Waits until this many were shown since the last call; returns their texts. */
async function shown(count: number): Promise<string[]> {
  await until(`window.collected.length >= ${count}`);
  return page.evaluate('window.collected.splice(0).sort()');
}

/** Waits until this many are still displayed. */
const displayed = (count: number): Promise<void> =>
  until(`(await (await navigator.serviceWorker.ready).getNotifications()).length === ${count}`);

/** As the browser does when the notification of a session is clicked. */
async function click(session: string): Promise<void> {
  const [worker] = page.context().serviceWorkers();
  if (!worker) throw new Error('there is no service worker');
  await worker.evaluate(`(async () => {
    const [notification] = await registration.getNotifications({ tag: '${session}' });
    dispatchEvent(new NotificationEvent('notificationclick', { notification }));
  })()`);
}

describe.skipIf(NO_BROWSER)('notifications', () => {
  beforeAll(async () => {
    app = await openConsole({}, launchWholeBrowser);
    page = await app.open('/settings', {
      permissions: ['notifications'],
      serviceWorkers: 'allow',
    });
    await page.evaluate(COLLECT);
    await until('(await navigator.serviceWorker.getRegistration())?.active');
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a refusal says why, and what helps', async () => {
    const refused = await app.open('/settings', { permissions: [] });
    const state = async (before: string, answer: string) => {
      await refused.evaluate(`Object.defineProperty(Notification, 'permission', { configurable: true, get: () => '${before}' });
        Notification.requestPermission = async () => '${answer}'`);
      await refused.getByRole('button', { name: 'Turn on' }).click();
    };
    await state('default', 'default');
    await visible(refused.getByText(/closed without an answer/));
    await state('default', 'denied');
    await visible(refused.getByText(/The browser has blocked notifications of 127\.0\.0\.1/));
    await state('denied', 'denied');
    await visible(
      refused.getByText(/were blocked earlier, so the browser does not ask again\. Click the icon/),
    );
    await refused.evaluate('delete window.Notification');
    await refused.getByRole('button', { name: 'Turn on' }).click();
    await visible(refused.getByText('This browser has no desktop notifications.'));
    await refused.context().close();
  });

  test('while the page is hidden, finished turns, failures and approvals are shown with their session', async () => {
    await page.getByRole('button', { name: 'Turn on' }).click();
    await visible(page.getByRole('button', { name: 'Turn off' }));
    await setVisibility(page, 'hidden');
    await allHidden();
    await submitInput(app.server, 'finished', 'Hello there');
    await submitInput(app.server, 'failed', 'simulate an error');
    await submitInput(app.server, 'asks', 'run touch new.txt');
    const texts = await shown(3);
    expect(texts[0]).toBe('Hello there | The agent has finished.');
    expect(texts[1]).toStartWith('run touch new.txt | Needs approval: ');
    expect(texts[2]).toStartWith('simulate an error | Failed: ');
  });

  test('a click opens the session in the console, and the others are closed when it is visible', async () => {
    await click('asks');
    await page.waitForURL(/#\/sessions\/asks$/);
    await displayed(2);
    await setVisibility(page, 'visible');
    await displayed(0);
  });

  test('nothing is shown while another tab is visible, or for sessions that no list shows', async () => {
    const other = await app.openBeside(page, '/settings');
    await visible(other.getByRole('heading', { name: 'Notifications' }));
    await setVisibility(page, 'hidden');
    await submitInput(app.server, 'watched', 'Hello');
    const watched = connect({ url: app.server.http }).session('watched');
    for await (const { type } of watched.events()) if (type === 'turn.ended') break;
    // Follows the end of the turn, which the page then knows.
    await watched.rename('Watched');
    await page.locator('.session-row').getByText('Watched', { exact: true }).waitFor({ state: 'attached' });
    await setVisibility(other, 'hidden');
    await allHidden();
    const brief = connect({ url: app.server.http }).session('brief');
    await brief.create({ ephemeral: true });
    await brief.submit('unlisted');
    await submitInput(app.server, 'later', 'Hello again');
    expect(await shown(1)).toEqual(['Hello again | The agent has finished.']);
    await other.close();
    await setVisibility(page, 'visible');
  });

  test('after they are turned off, nothing is shown', async () => {
    await page.goto(`${app.server.http}/#/settings`);
    await page.getByRole('button', { name: 'Turn off' }).click();
    await setVisibility(page, 'hidden');
    await submitInput(app.server, 'quiet', 'Psst');
    await page.locator('.session-row').getByText('Psst', { exact: true }).waitFor({ state: 'attached' });
    expect(await shown(0)).toEqual([]);
    await setVisibility(page, 'visible');
  });
});
