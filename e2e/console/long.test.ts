/** A session of ten thousand events opens and scrolls; only visible rows are in the document. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, seen } from './console.ts';
import { longSession } from './long-session.ts';

const TURNS = 2_000;
/** More than the rows of a screen of 800 points with its overscan. */
const MAX_ROWS = 120;

let folder: string;
let place: Console;

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
    place = await openConsole({ PARLANCE_DATA: folder });
  });
  afterAll(async () => {
    await place?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('in the chat: it opens at the end, and scrolls to the beginning and back', async () => {
    const page = await place.open('/sessions/long');
    await seen(page.locator('.markdown').getByText(`answer ${TURNS}`, { exact: true }));
    expect(await page.locator('.row').count()).toBeLessThan(MAX_ROWS);
    await scrolled(page, '.transcript', 'Home');
    await seen(page.locator('.said').getByText('question 1', { exact: true }));
    expect(await page.locator('.row').count()).toBeLessThan(MAX_ROWS);
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await seen(page.locator('.markdown').getByText(`answer ${TURNS}`, { exact: true }));
    expect(place.problems()).toEqual([]);
    await page.context().close();
  });

  test('in the timeline: every event is reachable', async () => {
    const page = await place.open('/timeline/long');
    const last = 1 + 5 * TURNS;
    await seen(page.getByRole('article', { name: `Event ${last}: turn.ended` }));
    expect(await page.locator('.entries-row').count()).toBeLessThan(MAX_ROWS);
    await scrolled(page, '.entries', 'Home');
    await seen(page.getByRole('article', { name: 'Event 1: session.created' }));
    expect(await page.locator('.entries-row').count()).toBeLessThan(MAX_ROWS);
    await page.getByRole('searchbox', { name: 'Search events and frames' }).fill('question 1234');
    await seen(page.getByRole('article', { name: `Event ${2 + 5 * 1233}: input.accepted` }));
    expect(await page.locator('.entries-row').count()).toBe(1);
    expect(place.problems()).toEqual([]);
    await page.context().close();
  });
});
