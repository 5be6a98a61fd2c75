/** The documentation served by the server. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, seen } from './console.ts';

const ROOT = join(import.meta.dir, '../..');
let place: Console;
let page: Page;

describe.skipIf(NO_BROWSER)('the documentation', () => {
  beforeAll(async () => {
    if (!existsSync(join(ROOT, 'docs/.vitepress/dist/manifest.json')))
      await Bun.$`bun scripts/build-docs.ts`.cwd(ROOT).quiet();
    place = await openConsole();
    page = await place.open('/welcome');
  }, 180_000);
  afterAll(() => place?.stop());
  afterEach(() => expect(place.problems()).toEqual([]));

  test('opens from the guide, and its pages lead to each other', async () => {
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.waitForURL(/\/docs\/$/);
    await seen(page.getByRole('heading', { name: /^Dialects/ }));
    expect(await page.getByText('<!--').count()).toBe(0);
    await page.getByRole('link', { name: 'Quick start' }).first().click();
    await seen(page.getByRole('heading', { level: 1, name: /^Quick start/ }));
    await page.getByRole('link', { name: 'Models' }).first().click();
    await seen(page.getByRole('heading', { level: 1, name: /^Models/ }));
  });

  test('can be searched', async () => {
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByPlaceholder('Search').fill('llama.cpp');
    await seen(page.locator('.VPLocalSearchBox .result').first());
    await page.keyboard.press('Escape');
  });
});
