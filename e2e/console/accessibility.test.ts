/** Every page, light and dark: nothing serious for axe, nothing against the policy, nothing wider than a small phone. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { barriers } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole } from './console.ts';
import { furnish, PAGES } from './pages.ts';

let place: Console;

const sideways = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

describe.skipIf(NO_BROWSER)('every page', () => {
  beforeAll(async () => {
    place = await openConsole();
    await furnish(place.server);
  });
  afterAll(() => place?.stop());

  test.each(PAGES)('$name can be used by everyone and keeps to the policy', async ({ path, ready }) => {
    const page = await place.open(path, { reducedMotion: 'reduce' });
    await ready(page, place);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await barriers(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(sideways)).toBe(0);
    expect(await barriers(page)).toEqual([]);
    expect(place.problems()).toEqual([]);
    await page.context().close();
  });
});
