/** Settings of the browser, and keys that work on every page. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, gone, openConsole, say, seen, titled } from './console.ts';

let place: Console;
let page: Page;

const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');

describe.skipIf(NO_BROWSER)('settings', () => {
  beforeAll(async () => {
    place = await openConsole();
    page = await place.open('/settings', { colorScheme: 'light', permissions: ['notifications'] });
  });
  afterAll(() => place?.stop());
  afterEach(() => expect(place.problems()).toEqual([]));

  test('a theme is stored, and overrides that of the system', async () => {
    const light = await background();
    await page.getByRole('radio', { name: 'Dark' }).check();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await seen(page.getByRole('heading', { name: 'Theme' }));
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
    expect(await background()).toBe(dark);
    await page.getByRole('radio', { name: 'System' }).check();
    expect(await background()).toBe(light);
  });

  test('notifications are turned on and off', async () => {
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await seen(page.getByRole('button', { name: 'Turn on' }));
  });

  test('Ctrl-K goes to a session by its title, or to a page', async () => {
    await say(place.server, 'first', 'Plan the summer party');
    await say(place.server, 'second', 'Something else');
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await seen(palette.getByRole('option', { name: /Plan the summer party/ }));
    await page.keyboard.type('summer');
    await gone(palette.getByRole('option', { name: /Something else/ }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/sessions\/first$/);
    await gone(palette);

    await page.keyboard.press('Control+k');
    await seen(palette);
    await page.keyboard.type('approv');
    await page.keyboard.press('Enter');
    await titled(page, 'Approvals · Parlance');
  });

  test('? lists the keys', async () => {
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Commands and shortcuts' });
    await seen(help);
    expect(await help.getByRole('button').count()).toBe(1);
    await page.keyboard.press('Escape');
    await gone(help);
  });
});
