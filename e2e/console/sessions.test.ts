/** The list of sessions: search, rename, archive, export, delete; live in every tab. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, gone, openConsole, say, seen } from './console.ts';

let place: Console;
let page: Page;

/** In the same tab, as a link would. */
const goTo = (path: string) => page.goto(`${place.server.http}/#${path}`);

const rowOf = (page: Page, title: string): Locator =>
  page.locator('.session-row').filter({ has: page.locator('.session-title', { hasText: title }) });

async function choose(page: Page, title: string, item: string): Promise<void> {
  await rowOf(page, title).hover();
  await page.getByRole('button', { name: `Actions for ${title}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

describe.skipIf(NO_BROWSER)('sessions', () => {
  beforeAll(async () => {
    place = await openConsole();
    page = await place.open();
  });
  afterAll(() => place?.stop());
  afterEach(() => expect(place.problems()).toEqual([]));

  test('a session of any client appears immediately, with the attached dialects', async () => {
    await goTo('/');
    await seen(page.getByText('No sessions yet.'));
    const client = await place.server.connect('/broadcast');
    client.send({ type: 'chat', message: 'hello from elsewhere', session_id: 'shows-up' });
    await seen(rowOf(page, 'hello from elsewhere').getByText('broadcast'));
    client.close();
    await gone(rowOf(page, 'hello from elsewhere').getByText('broadcast'));
  });

  test('a waiting session is marked, and the search finds by title', async () => {
    await say(place.server, 'waits', 'run touch waiting.txt');
    await say(place.server, 'other', 'hello there');
    await goTo('/');
    await seen(rowOf(page, 'touch waiting.txt').getByText('Waiting for input', { exact: true }));
    await seen(rowOf(page, 'hello there'));
    await page.getByRole('searchbox').fill('WAITING');
    await gone(rowOf(page, 'hello there'));
    await gone(rowOf(page, 'hello from elsewhere'));
    expect(await page.locator('.session-row').count()).toBe(1);
    await page.getByRole('searchbox').fill('no such words');
    await seen(page.getByText('No sessions match “no such words”.'));
    await page.getByRole('searchbox').fill('');
    await seen(rowOf(page, 'hello there'));
  });

  test('a rename in one tab appears in the other', async () => {
    await say(place.server, 'renamed', 'an old name');
    await goTo('/sessions/renamed');
    const other = await place.openBeside(page, '/approvals');
    await seen(rowOf(other, 'an old name'));
    await page.bringToFront();
    await choose(page, 'an old name', 'Rename');
    await page.getByLabel('Title', { exact: true }).fill('A better name');
    await page.keyboard.press('Enter');
    await seen(rowOf(other, 'A better name'));
    await seen(page.getByRole('heading', { name: 'A better name' }));
    await other.close();
  });

  test('an archived session is only in the archive', async () => {
    await say(place.server, 'archived', 'to be archived');
    await goTo('/');
    await seen(rowOf(page, 'to be archived'));
    await choose(page, 'to be archived', 'Archive');
    await gone(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show archived sessions' }).click();
    await seen(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show current sessions' }).click();
    await gone(rowOf(page, 'to be archived'));
  });

  test('an export is a file with every event', async () => {
    await say(place.server, 'exported', 'to be exported');
    await goTo('/');
    await seen(rowOf(page, 'to be exported'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      choose(page, 'to be exported', 'Export'),
    ]);
    expect(download.suggestedFilename()).toBe('exported.jsonl');
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines.some((line) => JSON.parse(line).type === 'input.accepted')).toBe(true);
  });

  test('a deleted session is gone, and its reader is redirected', async () => {
    await say(place.server, 'deleted', 'to be deleted');
    await goTo('/sessions/deleted');
    await choose(page, 'to be deleted', 'Delete');
    await seen(page.getByRole('heading', { name: 'Delete session?' }));
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await gone(rowOf(page, 'to be deleted'));
    await page.waitForURL(/#\/$/);
    expect((await fetch(`${place.server.http}/v1/sessions/deleted`)).status).toBe(404);
  });
});
