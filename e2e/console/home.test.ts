/** The session list as a home: days, titles, the archive, and the palette that finds everything. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { connect } from '@parlance/sdk';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, removed, submitInput, visible } from './console.ts';
import { sessionsOfDays } from './long-session.ts';

let folder: string;
let app: Console;
let page: Page;

const goTo = (path: string) => page.goto(`${app.server.http}/#${path}`);
const palette = () => page.getByRole('dialog', { name: 'Go to' });
const option = (name: RegExp | string): Locator => palette().getByRole('option', { name });

async function find(text: string): Promise<void> {
  await removed(palette());
  await page.keyboard.press('Control+k');
  await visible(palette());
  await page.keyboard.type(text);
}

describe.skipIf(NO_BROWSER)('home', () => {
  beforeAll(async () => {
    folder = await sessionsOfDays([0, 1, 3, 20, 100]);
    app = await openConsole({ PARLANCE_DATA: folder });
    page = await app.open();
  });
  afterAll(async () => {
    await app?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('sessions are grouped by day, the latest first', async () => {
    await openSidebar(page);
    await visible(page.locator('.session-row').nth(4));
    const groups = page.locator('.session-list section');
    const names = await groups.evaluateAll((all) =>
      all.map(
        (one) => `${one.getAttribute('aria-label')}: ${one.querySelector('.session-title')?.textContent}`,
      ),
    );
    expect(names).toEqual([
      'Today: question 0',
      'Yesterday: question 1',
      'Previous 7 days: question 3',
      'Previous 30 days: question 20',
      'Older: question 100',
    ]);
  });

  test('the menu of every session is complete, wherever it opens', async () => {
    await openSidebar(page);
    for (const row of await page.locator('.session-row').all()) {
      await row.hover();
      await row.locator('.menu > button').click();
      await visible(page.getByRole('menuitem', { name: 'Delete' }));
      const menu = (await page.getByRole('menu').boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 };
      const { width, height } = app.screen.viewport;
      expect([menu.x >= 0, menu.y >= 0]).toEqual([true, true]);
      expect([menu.x + menu.width <= width, menu.y + menu.height <= height]).toEqual([true, true]);
      await page.keyboard.press('Escape');
      await removed(page.getByRole('menu'));
    }
  });

  test('in a menu, End, Home and letters move to items', async () => {
    await openSidebar(page);
    await page.locator('.session-row').first().locator('.menu > button').press('Enter');
    const focused = () => page.evaluate('document.activeElement.textContent.trim()');
    for (const [key, item] of [
      ['End', 'Delete'],
      ['Home', 'Pin'],
      ['t', 'Tags'],
      ['t', 'Timeline'],
      ['e', 'Export'],
    ]) {
      await page.keyboard.press(key ?? '');
      expect([key, await focused()]).toEqual([key, item]);
    }
    await page.keyboard.press('Escape');
    await removed(page.getByRole('menu'));
  });

  test('the title is kept after /clear, and the context is empty', async () => {
    await submitInput(app.server, 'cleared', 'A title to keep');
    await goTo('/sessions/cleared');
    const title = page.getByRole('heading', { level: 1, name: 'A title to keep', exact: true });
    await visible(title);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/clear');
    await page.keyboard.press('Enter');
    await visible(page.getByText('Context cleared by you.'));
    // No message is sent while a command runs.
    await until(async () => (await field.inputValue()) === '');
    await field.fill('Something else');
    await page.keyboard.press('Enter');
    await visible(page.locator('.said').getByText('Something else'));
    await page.reload();
    await visible(title);
    await openSidebar(page);
    await visible(page.locator('.session-title').getByText('A title to keep', { exact: true }));
    expect(await page.locator('.session-title').getByText('Something else').count()).toBe(0);
  });

  test('an archived session says so, and is restored from its page', async () => {
    await submitInput(app.server, 'put-away', 'Put away');
    await connect({ url: app.server.http }).session('put-away').archive();
    await goTo('/sessions/put-away');
    await page.setViewportSize({ width: 320, height: 640 });
    // On a phone the button is below the text.
    const text = page.getByText(/This session is archived/);
    await until(async () => ((await text.boundingBox())?.width ?? 0) > 200);
    await page.setViewportSize(app.screen.viewport);
    await page.getByRole('button', { name: 'Restore' }).click();
    await removed(page.getByText(/This session is archived/));
    await openSidebar(page);
    await visible(page.locator('.session-title').getByText('Put away', { exact: true }));
  });

  test('the palette finds sessions, messages, pages, themes and the other page of a session', async () => {
    await submitInput(app.server, 'zoo', 'A visit to the zoo');
    await submitInput(app.server, 'zoo', 'the okapi sleeps');
    await goTo('/settings');
    await find('visit to');
    // Messages that contain it come later.
    await option(/A visit to the zoo/)
      .first()
      .click();
    await page.waitForURL(/#\/sessions\/zoo$/);

    await find('timeline of');
    await visible(option(/Timeline of this session/));
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/timeline\/zoo$/);

    await find('okapi');
    await page.setViewportSize({ width: 320, height: 640 });
    const text = option('A visit to the zoo: the okapi sleeps').locator('span');
    await visible(text);
    expect(await text.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(await text.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0);
    await page.setViewportSize(app.screen.viewport);
    await option(/A visit to the zoo: .*okapi.*Message/)
      .first()
      .click();
    await page.waitForURL(/#\/sessions\/zoo\?event=\d+$/);

    await find('theme');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await palette().locator('[aria-selected=true]').textContent()).toContain('dark');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');

    await find('shortcuts');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('dialog', { name: 'Commands and shortcuts' }));
    await page.keyboard.press('Escape');
    await removed(page.getByRole('dialog'));

    await find('no such thing');
    await visible(palette().getByText('Nothing matches “no such thing”.'));
    await page.keyboard.press('Escape');
    await removed(palette());
  });
});
