/** The first page: who answers, with which model, and what runs without asking, each with a label and an explanation. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, pickOption, removed, visible } from './console.ts';
import { layoutProblems } from './layout.ts';

let app: Console;
let page: Page;

const picker = (name: RegExp | string) => page.getByRole('button', { name });
const option = (name: RegExp) => page.getByRole('menuitemradio', { name });

describe.skipIf(NO_BROWSER)('the first page', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open('/', { reducedMotion: 'reduce' });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('the agent of any domain is chosen at the message field', async () => {
    await visible(picker(/^Agent: /));
    expect(await page.getByLabel('Domain').count()).toBe(0);
    await picker(/^Agent: /).click();
    const group = page.getByRole('group', { name: 'Social chat' });
    const name = (await group.getByRole('menuitemradio').first().innerText()).split('\n')[0] ?? '';
    await group.getByRole('menuitemradio').first().click();
    await visible(picker(`Agent: ${name}`));
    expect(page.url()).toContain('domain=social_chat');
  });

  test('every approval mode is explained, and chosen with keys', async () => {
    await picker(/^Approval mode: /).press('Enter');
    for (const text of [/^Ask first ?Asks before every/, /^Edit freely ?Edits files/])
      await visible(option(text));
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('e');
    await page.keyboard.press('Enter');
    await visible(picker('Approval mode: Edit freely'));
    await picker(/^Approval mode: /).press('Enter');
    await page.keyboard.press('Escape');
    await removed(page.getByRole('menu'));
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      'Approval mode: Edit freely',
    );
    await pickOption(page, 'Approval mode', 'As the server');
    await visible(picker('Approval mode: Ask first'));
  });

  test('words of developers are behind Developer', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    const words = /\b(native|live|frames?|listeners?|origins?|dialects?)\b/i;
    for (const path of [
      '/',
      '/admin',
      '/settings',
      '/approvals',
      '/admin?section=agents',
      '/admin?section=mcp',
    ]) {
      await page.goto(`${app.server.http}/#${path}`);
      await visible(page.locator('#main').getByRole('heading').first());
      expect([path, words.exec(await page.locator('body').innerText())?.[0]]).toEqual([path, undefined]);
    }
    await page.getByRole('button', { name: 'Developer' }).click();
    await page.getByRole('link', { name: 'Connections' }).click();
    await visible(page.getByRole('heading', { name: 'Connections' }));
    await visible(page.getByRole('heading', { name: 'Listeners' }));
    expect(await page.getByRole('link', { name: 'Connections' }).getAttribute('aria-current')).toBe('page');
    expect(await page.getByRole('link', { name: 'Admin' }).getAttribute('aria-current')).toBe(null);
  });

  test('a tour explains the first page on every screen, and can be skipped', async () => {
    await page.goto(`${app.server.http}/#/`);
    await prepare(page);
    const card = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Take a short tour' }).click();
    const titles: string[] = [];
    for (;;) {
      titles.push(await card.getByRole('heading').innerText());
      for (const width of [320, 768, 1_440])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          if (width !== 768)
            expect([
              titles,
              width,
              await accessibilityProblems(page, width === 320 ? 'all' : 'colours'),
            ]).toEqual([titles, width, []]);
          expect([titles, width, await layoutProblems(page)]).toEqual([titles, width, []]);
          if (process.env.SCREENSHOT)
            await page.screenshot({
              path: `${process.env.SCREENSHOT}.${titles.length}-${width}-${colorScheme}.png`,
            });
        }
      const next = card.getByRole('button', { name: 'Next' });
      if ((await next.count()) === 0) break;
      await next.press('Enter');
    }
    expect(titles).toEqual([
      'Say what you need',
      'Choose who works, and how freely',
      'Your sessions',
      'Approvals',
      'Connect more',
    ]);
    await card.getByRole('button', { name: 'Done' }).press('Enter');
    await removed(card);
    expect(
      await page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName",
      ),
    ).toMatch(/message|TEXTAREA/i);
    await page.reload();
    await visible(page.getByRole('heading', { name: 'What can I do for you?' }));
    expect(await page.getByText('New here?').count()).toBe(0);

    const other = await app.open('/');
    await other.getByRole('button', { name: 'Take a short tour' }).click();
    await visible(other.getByRole('dialog'));
    await other.keyboard.press('Escape');
    await removed(other.getByRole('dialog'));
    expect(await other.getByText('New here?').count()).toBe(0);
    await other.context().close();
  });

  test('is readable on every screen, also with an open picker', async () => {
    await page.goto(`${app.server.http}/#/`);
    await prepare(page);
    for (const width of [320, 768, 1_440, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const opened of [null, /^Agent: /, /^Approval mode: /]) {
        if (opened) await picker(opened).click();
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          const found = await accessibilityProblems(page, 'all');
          expect([width, colorScheme, found]).toEqual([width, colorScheme, []]);
        }
        expect([width, await layoutProblems(page)]).toEqual([width, []]);
        if (opened) await page.keyboard.press('Escape');
      }
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
    await openSidebar(page);
  });
});
