/** Runs axe and looks for controls that are cut off, at four widths, light and dark. */
import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { layoutProblems } from './layout.ts';

/** With `PICTURES`, a folder, also takes pictures of this name. Leaves the page with 1,440 pixels. */
export async function everyScreen(page: Page, name: string): Promise<void> {
  const { PICTURES } = process.env;
  await prepare(page);
  for (const width of [320, 768, 1_440, 2_560]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect([width, colorScheme, await accessibilityProblems(page, 'all')]).toEqual([
        width,
        colorScheme,
        [],
      ]);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png` });
    }
    expect([width, await layoutProblems(page)]).toEqual([width, []]);
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
}
