/** The list of sessions: search, pins, tags, rename, archive, export, links, delete; live in every tab. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { postJson } from '../server-process.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, closeSidebar, gone, openConsole, openSidebar, say, seen } from './console.ts';

let place: Console;
let page: Page;

/** In the same tab, like a link, with the list of sessions in view. */
async function goTo(path: string): Promise<void> {
  await closeSidebar(page);
  await page.goto(`${place.server.http}/#${path}`);
  await openSidebar(page);
}

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
    await seen(rowOf(page, 'touch waiting.txt').getByText('Needs approval', { exact: true }));
    await seen(rowOf(page, 'hello there'));
    await page.getByRole('searchbox').fill('WAITING');
    await gone(rowOf(page, 'hello there'));
    await gone(rowOf(page, 'hello from elsewhere'));
    expect(await page.locator('.session-row').count()).toBe(1);
    await page.getByRole('searchbox').fill('no such words');
    await seen(page.getByText('No results for “no such words”.'));
    await page.getByRole('searchbox').fill('');
    await seen(rowOf(page, 'hello there'));
  });

  test('a rename in one tab appears in the other', async () => {
    await say(place.server, 'renamed', 'an old name');
    await goTo('/sessions/renamed');
    const other = await place.openBeside(page, '/approvals');
    await openSidebar(other);
    await seen(rowOf(other, 'an old name'));
    await page.bringToFront();
    await choose(page, 'an old name', 'Rename');
    await page.getByLabel('Title', { exact: true }).fill('A better name');
    await page.keyboard.press('Enter');
    await seen(rowOf(other, 'A better name'));
    await seen(page.getByRole('heading', { name: 'A better name' }));
    await other.close();
  });

  test('a dialog stays open when its session leaves the search', async () => {
    await say(place.server, 'leaving', 'a needle in the hay');
    await goTo('/');
    const search = page.getByRole('searchbox', { name: 'Search titles and messages' });
    await search.fill('needle');
    await choose(page, 'a needle in the hay', 'Rename');
    await page.getByLabel('Title', { exact: true }).fill('The found needle');
    const rename = { type: 'session.rename', title: 'only hay' };
    await postJson(`${place.server.http}/v1/sessions/leaving/commands`, rename);
    await gone(rowOf(page, 'a needle in the hay'));
    await page.keyboard.press('Enter');
    // It comes back into the search with its new title.
    await seen(rowOf(page, 'The found needle'));
    await search.fill('');
  });

  test('an archived session is only in the archive, and comes back with undo or restore', async () => {
    await say(place.server, 'archived', 'to be archived');
    await goTo('/');
    await seen(rowOf(page, 'to be archived'));
    await choose(page, 'to be archived', 'Archive');
    await gone(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(rowOf(page, 'to be archived'));
    await choose(page, 'to be archived', 'Archive');
    await gone(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show archived sessions' }).click();
    await choose(page, 'to be archived', 'Restore');
    await gone(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show current sessions' }).click();
    await seen(rowOf(page, 'to be archived'));
  });

  test('a pinned session is first, in every tab', async () => {
    await say(place.server, 'pinned', 'keep this');
    await say(place.server, 'newer', 'newer than that');
    await goTo('/');
    await seen(rowOf(page, 'newer than that'));
    await choose(page, 'keep this', 'Pin');
    const pinned = page.getByRole('region', { name: 'Pinned' });
    await seen(pinned.getByRole('link', { name: /keep this/ }));
    expect(await rowOf(page, 'keep this').count()).toBe(1);
    const other = await place.openBeside(page, '/approvals');
    await openSidebar(other);
    await seen(other.getByRole('region', { name: 'Pinned' }));
    await other.close();
    await choose(page, 'keep this', 'Unpin');
    await gone(pinned);
    await seen(rowOf(page, 'keep this'));
  });

  test('sessions are tagged, and filtered by tag', async () => {
    await say(place.server, 'tagged', 'a tagged one');
    await goTo('/');
    await choose(page, 'a tagged one', 'Tags');
    await page.getByLabel('Tags, separated by commas').fill('work, Berlin, WORK');
    await page.getByRole('button', { name: 'Save' }).click();
    await seen(rowOf(page, 'a tagged one').getByText('Berlin'));
    await page.getByLabel('Filter by tag').selectOption('work');
    await gone(rowOf(page, 'keep this'));
    await seen(rowOf(page, 'a tagged one'));
    await page.getByLabel('Filter by tag').selectOption('');
    await seen(rowOf(page, 'keep this'));
  });

  test('the search finds messages, and opens the session at the message', async () => {
    await say(place.server, 'found', 'count to 7');
    await say(place.server, 'found', 'the capybara sleeps');
    await goTo('/');
    await page.getByRole('searchbox').fill('capyb');
    const messages = page.getByRole('region', { name: 'Messages' });
    await seen(messages.getByRole('link', { name: /the capybara sleeps/ }).first());
    expect(await messages.locator('mark').first().textContent()).toBe('capybara');
    // No title matches, which is worth no words.
    expect(await page.getByText(/^No /).count()).toBe(0);
    await messages.getByRole('link', { name: /You ·/ }).click();
    await page.waitForURL(/#\/sessions\/found\?event=\d+$/);
    await seen(page.locator('.row[data-found]').getByText('the capybara sleeps'));
    await openSidebar(page);
    await page.getByRole('searchbox').fill('"<img src=x onerror=alert(1)> OR *');
    await seen(page.getByText('No results for “"<img src=x onerror=alert(1)> OR *”.'));
    await page.getByRole('searchbox').fill('');
  });

  test.each([
    ['Markdown', 'to be exported.md', '## You\n\nto be exported'],
    ['HTML', 'to be exported.html', '<p class="plain">to be exported</p>'],
    ['JSONL', 'to be exported.jsonl', '"type":"input.accepted"'],
  ])('an export as %s is a file', async (format, name, content) => {
    await say(place.server, 'exported', 'to be exported');
    await goTo('/');
    await seen(rowOf(page, 'to be exported'));
    await choose(page, 'to be exported', 'Export');
    await page.getByRole('radio', { name: format }).check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(name);
    expect(await readFile(await download.path(), 'utf8')).toContain(content);
  });

  test('a link shows the session to people without an account until it is revoked', async () => {
    await say(place.server, 'shared', 'to be shared');
    await goTo('/');
    await choose(page, 'to be shared', 'Share');
    const dialog = page.getByRole('dialog', { name: 'Share session' });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const address = await dialog.getByLabel('Link', { exact: true }).inputValue();
    const reader = await place.browser.newPage(place.screen);
    await reader.goto(address);
    await seen(reader.getByRole('heading', { name: 'to be shared' }));
    await prepare(reader);
    expect(await accessibilityProblems(reader, 'all')).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await gone(dialog.getByRole('list', { name: 'Links' }));
    await reader.reload();
    await seen(reader.getByRole('heading', { name: 'Link not found' }));
    await reader.context().close();
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test('a dialog has room for a title without spaces', async () => {
    const title = 'Donaudampfschifffahrtsgesellschaft'.repeat(2);
    await say(place.server, 'long', title);
    await goTo('/');
    await choose(page, title, 'Delete');
    const dialog = page.getByRole('dialog');
    await seen(dialog.getByText(title));
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.keyboard.press('Escape');
    await gone(dialog);
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
