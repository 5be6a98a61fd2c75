/** Every page, light and dark: no serious axe finding, no policy violation, no overflow on a small phone. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Request } from 'playwright-core';
import { barriers, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, seen } from './console.ts';
import { furnish, PAGES } from './pages.ts';

let place: Console;

const sideways = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

describe.skipIf(NO_BROWSER)('every page', () => {
  beforeAll(async () => {
    place = await openConsole();
    await furnish(place.server);
  });
  afterAll(() => place?.stop());

  test.each(PAGES)('$name is accessible and respects the policy', async ({ path, ready }) => {
    const page = await place.open(path, { reducedMotion: 'reduce', colorScheme: 'light' });
    await ready(page, place);
    await prepare(page);
    expect(await barriers(page, 'all')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await barriers(page, 'colours')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(sideways)).toBe(0);
    expect(await barriers(page, 'all but colours')).toEqual([]);
    expect(place.problems()).toEqual([]);
    await page.context().close();
  });

  test('the first view is less than 250 KB compressed', async () => {
    const page = await place.browser.newPage();
    const sizes: Promise<number>[] = [];
    const weigh = (request: Request): void => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    };
    page.on('requestfinished', weigh);
    await page.goto(`${place.server.http}/#/`);
    await seen(page.getByRole('heading', { name: 'What can I do for you?' }));
    // Later requests are not part of the first view, and their size is unknown once the page is closed.
    page.off('requestfinished', weigh);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(250_000);
    await page.context().close();
  });
});
