/** Settings of the browser, and keys that work on every page. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import {
  type Console,
  openConsole,
  removed,
  submitInput,
  titled,
  validationMessageOf,
  visible,
} from './console.ts';
import { layoutProblems } from './layout.ts';

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

  test('a saved prompt is a slash command in the message field, until it is removed', async () => {
    await page.goto(`${app.server.http}/#/settings`);
    await page.getByRole('button', { name: 'New prompt' }).click();
    const dialog = page.getByRole('dialog', { name: 'New prompt' });
    await dialog.getByLabel('Name').fill('model');
    await dialog.getByLabel('Text').fill('Review this for errors:');
    expect(await validationMessageOf(dialog.getByLabel('Name'))).toBe(
      '/model is a command. Choose another name.',
    );
    await dialog.getByLabel('Name').fill('review');
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await visible(page.getByRole('list', { name: 'Saved prompts' }).getByText('/review'));
    for (const width of [320, 768, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await accessibilityProblems(page, 'all')]).toEqual([width, []]);
      expect([width, await layoutProblems(page)]).toEqual([width, []]);
      if (process.env.SCREENSHOT)
        await page.screenshot({ path: `${process.env.SCREENSHOT}.prompts-${width}.png`, fullPage: true });
    }
    await page.goto(`${app.server.http}/#/`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/rev');
    await visible(page.getByRole('option', { name: /^\/review ?Review this for errors:/ }));
    await page.keyboard.press('Enter');
    await page.keyboard.type('src/a.ts');
    await page.keyboard.press('Enter');
    await until(async () => (await field.inputValue()) === 'Review this for errors:\n\nsrc/a.ts');
    await field.fill('');
    await page.goto(`${app.server.http}/#/settings`);
    await page.getByRole('button', { name: 'Remove review' }).click();
    await removed(page.getByRole('list', { name: 'Saved prompts' }));
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
