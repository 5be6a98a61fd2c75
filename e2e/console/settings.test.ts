/** Settings of the browser, and keys that work on every page. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, submitInput, titled, visible } from './console.ts';

let app: Console;
let page: Page;

const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');

describe.skipIf(NO_BROWSER)('settings', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open('/settings', { colorScheme: 'light', permissions: ['notifications'] });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a theme is stored, and overrides that of the system', async () => {
    const light = await background();
    await page.getByRole('radio', { name: 'Dark' }).check();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await visible(page.getByRole('heading', { name: 'Theme' }));
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
    expect(await background()).toBe(dark);
    await page.getByRole('radio', { name: 'System' }).check();
    expect(await background()).toBe(light);
  });

  test.each(['dark', 'light'] as const)(
    'the page has the chosen theme before the application runs: %s',
    async (theme) => {
      const other = theme === 'dark' ? 'light' : 'dark';
      const loaded = await app.open('/settings', { colorScheme: other, serviceWorkers: 'block' });
      const backgroundNow = () => loaded.evaluate('getComputedStyle(document.body).backgroundColor');
      const ofSystem = await backgroundNow();
      await loaded.getByRole('radio', { name: theme === 'dark' ? 'Dark' : 'Light' }).check();
      const chosen = await backgroundNow();
      expect(chosen).not.toBe(ofSystem);

      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await loaded.route(/\/assets\/main-.*\.js$/, async (route) => {
        await held;
        await route.continue();
      });
      await loaded.reload({ waitUntil: 'commit' });
      await visible(loaded.locator('.starting'));
      const early = await backgroundNow();
      release();
      await visible(loaded.getByRole('heading', { name: 'Theme' }));
      expect(early).toBe(chosen);
      await loaded.context().close();
    },
  );

  test('a theme that is chosen in one tab is shown in the others', async () => {
    const beside = await app.openBeside(page, '/settings');
    await page.getByRole('radio', { name: 'Dark' }).check();
    await beside.locator('html[data-theme=dark]').waitFor();
    await visible(beside.getByRole('radio', { name: 'Dark', checked: true }));
    await beside.getByRole('radio', { name: 'System' }).check();
    await page.locator('html[data-theme=system]').waitFor();
    await beside.close();
    await page.bringToFront();
  });

  test('notifications are turned on and off', async () => {
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await visible(page.getByRole('button', { name: 'Turn on' }));
  });

  test('Ctrl-K goes to a session by its title, or to a page', async () => {
    await submitInput(app.server, 'first', 'Plan the summer party');
    await submitInput(app.server, 'second', 'Something else');
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await visible(palette.getByRole('option', { name: /Plan the summer party/ }));
    await page.keyboard.type('summer');
    await removed(palette.getByRole('option', { name: /Something else/ }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/sessions\/first$/);
    await removed(palette);

    await page.keyboard.press('Control+k');
    await visible(palette);
    await page.keyboard.type('approv');
    await page.keyboard.press('Enter');
    await titled(page, 'Approvals · Parlance');
  });

  test('? lists the keys', async () => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Commands and shortcuts' });
    await visible(help);
    expect(await help.getByRole('button').count()).toBe(1);
    await page.keyboard.press('Escape');
    await removed(help);
  });
});
