/** A session of ten thousand events opens and scrolls; only visible rows are in the document. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, visible } from './console.ts';
import { longSession } from './long-session.ts';

const TURNS = 2_000;
/** More than the rows of a screen of 800 points with its overscan. */
const MAX_ROWS = 120;

let folder: string;
let app: Console;

/** Scrolls to the beginning or the end. */
async function scrolled(page: Page, scroller: string, key: 'Home' | 'End'): Promise<void> {
  await page.locator(scroller).focus();
  await page.locator(scroller).evaluate((element, to) => {
    const box = element as unknown as { scrollTop: number; scrollHeight: number };
    box.scrollTop = to === 'Home' ? 0 : box.scrollHeight;
  }, key);
}

describe.skipIf(NO_BROWSER)('ten thousand events', () => {
  beforeAll(async () => {
    folder = await longSession('long', TURNS);
    app = await openConsole({ PARLANCE_DATA: folder });
  });
  afterAll(async () => {
    await app?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('in the chat: it opens at the end, and scrolls to the beginning and back', async () => {
    const page = await app.open('/sessions/long');
    await visible(page.locator('.markdown').getByText(`answer ${TURNS}`, { exact: true }));
    expect(await page.locator('.row').count()).toBeLessThan(MAX_ROWS);
    await scrolled(page, '.transcript', 'Home');
    await visible(page.locator('.said').getByText('question 1', { exact: true }));
    expect(await page.locator('.row').count()).toBeLessThan(MAX_ROWS);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await visible(page.locator('.markdown').getByText(`answer ${TURNS}`, { exact: true }));
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });

  test('in the timeline: every event is reachable', async () => {
    const page = await app.open('/timeline/long');
    const last = 1 + 5 * TURNS;
    await visible(page.getByRole('article', { name: `Event ${last}: turn.ended` }));
    expect(await page.locator('.entries-row').count()).toBeLessThan(MAX_ROWS);
    await scrolled(page, '.entries', 'Home');
    await visible(page.getByRole('article', { name: 'Event 1: session.created' }));
    expect(await page.locator('.entries-row').count()).toBeLessThan(MAX_ROWS);
    await page.getByRole('searchbox', { name: 'Search events' }).fill('question 1234');
    await visible(page.getByRole('article', { name: `Event ${2 + 5 * 1233}: input.accepted` }));
    expect(await page.locator('.entries-row').count()).toBe(1);
    expect(app.problems()).toEqual([]);
    await page.context().close();
  });
});
