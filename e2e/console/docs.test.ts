/** The documentation served by the server. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, visible } from './console.ts';

const ROOT = join(import.meta.dir, '../..');
let app: Console;
let page: Page;

/** On a phone the pages are listed in a menu. */
async function openPage(name: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('link', { name }).first().click();
}

describe.skipIf(NO_BROWSER)('the documentation', () => {
  beforeAll(async () => {
    if (!existsSync(join(ROOT, 'docs/.vitepress/dist/manifest.json')))
      await Bun.$`bun scripts/build-docs.ts`.cwd(ROOT).quiet();
    app = await openConsole();
    page = await app.open('/welcome');
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('opens from the guide, and its pages lead to each other', async () => {
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.waitForURL(/\/docs\/$/);
    await visible(page.getByRole('heading', { name: /^Dialects/ }));
    expect(await page.getByText('<!--').count()).toBe(0);
    await openPage('Quick start');
    await visible(page.getByRole('heading', { level: 1, name: /^Quick start/ }));
    await openPage('Models');
    await visible(page.getByRole('heading', { level: 1, name: /^Models/ }));
  });

  test('begins with cards that fit on every screen', async () => {
    const reader = await app.open('/', { reducedMotion: 'reduce' });
    await reader.goto(`${app.server.http}/docs/`);
    const card = reader.locator('.first-page table').first().locator('tbody tr').first();
    await visible(card.getByRole('link', { name: 'watch your agents from your phone' }));
    await prepare(reader);
    for (const width of [320, 768, 1_440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await reader.setViewportSize({ width, height: 900 });
        await reader.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const box = await card.boundingBox();
        expect([width, (box?.width ?? 0) > 200 && (box?.width ?? width) < 600]).toEqual([width, true]);
        expect(await reader.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
        expect([width, await accessibilityProblems(reader, 'colours')]).toEqual([width, []]);
        if (process.env.SCREENSHOT)
          await reader.screenshot({ path: `${process.env.SCREENSHOT}.docs-${width}-${colorScheme}.png` });
      }
    await reader.context().close();
  });

  test('can be searched', async () => {
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByPlaceholder('Search').fill('llama.cpp');
    await visible(page.locator('.VPLocalSearchBox .result').first());
    await page.keyboard.press('Escape');
  });

  test('explains a wrong address, and links to the console', async () => {
    await page.goto(`${app.server.http}/docs/missing.html`);
    await visible(page.getByText('There is no page at this address.'));
    expect(app.problems()).toEqual([expect.stringContaining('404')]);
    await page.getByRole('link', { name: 'Open the documentation' }).click();
    await visible(page.getByRole('heading', { level: 1, name: /^Documentation/ }));
    // On a narrow screen the link is in a menu.
    const hrefs = page
      .locator('.VPNav a', { hasText: 'Console' })
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(await hrefs).toEqual(['/']);
  });
});
