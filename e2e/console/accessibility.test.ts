/** Every page and dialog on a phone, a tablet and a desktop, light and dark: axe finds nothing, and no control is cut off. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, visible } from './console.ts';
import { DIALOGS } from './dialogs.ts';
import { layoutProblems } from './layout.ts';
import { createContent, PAGES } from './pages.ts';
import { SIZES, THEMES } from './screen.ts';

let app: Console;
/** shared by all dialogs: opening a page takes longer than looking at it */
let tab: Page | undefined;

/** axe takes most of the time: by default it checks the smallest screen, and the colours of the largest. */
const ALL_SCREENS = process.env.ALL_SCREENS === '1';
const [smallest, , largest] = SIZES;

/** Popovers follow the window before each frame. */
const NEXT_FRAME = 'new Promise((resolve) => void requestAnimationFrame(resolve))';

async function problemsOn(
  page: Page,
  size: (typeof SIZES)[number],
  colorScheme: (typeof THEMES)[number],
): Promise<string[]> {
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme });
  await page.evaluate(NEXT_FRAME);
  const problems = await layoutProblems(page);
  if (ALL_SCREENS || (size === smallest && colorScheme === 'light'))
    problems.push(...(await accessibilityProblems(page, 'all')));
  else if (size === largest && colorScheme === 'dark')
    problems.push(...(await accessibilityProblems(page, 'colours')));
  return problems;
}

/** Problems by screen width and theme. */
async function problemsOf(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  await prepare(page);
  for (const size of SIZES)
    for (const colorScheme of THEMES) {
      const problems = await problemsOn(page, size, colorScheme);
      if (problems.length > 0) found[`${size.width} ${colorScheme}`] = problems;
    }
  return found;
}

describe.skipIf(NO_BROWSER)('every page', () => {
  beforeAll(async () => {
    app = await openConsole();
    await createContent(app.server);
  });
  afterAll(() => app?.stop());

  test.each([...PAGES])('$name is accessible and complete on every screen', async ({ path, ready }) => {
    const page = await app.open(path, { viewport: largest, reducedMotion: 'reduce' });
    await ready(page, app);
    expect(await problemsOf(page)).toEqual({});
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test.each([...DIALOGS])('$name is accessible and complete on every screen', async ({ path, ready }) => {
    tab ??= await app.open('/settings', { viewport: largest, reducedMotion: 'reduce' });
    await tab.keyboard.press('Escape');
    await tab.setViewportSize(largest);
    await tab.goto(`${app.server.http}/#${path}`);
    await ready(tab, app);
    expect(await problemsOf(tab)).toEqual({});
    expect(app.problems()).toEqual([]);
  });

  test('the first view is less than 200 KB compressed', async () => {
    const page = await app.browser.newPage();
    const sizes: Promise<number>[] = [];
    const weigh = (request: Request): void => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    };
    page.on('requestfinished', weigh);
    await page.goto(`${app.server.http}/#/`);
    await visible(page.getByRole('heading', { name: 'What can I do for you?' }));
    // Later requests are not part of the first view, and their size is unknown once the page is closed.
    page.off('requestfinished', weigh);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(200_000);
    await page.context().close();
  });
});
