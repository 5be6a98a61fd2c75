/** The list of sessions: search, pins, tags, rename, archive, export, links, delete; live in every tab. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { connect } from '@parlance/sdk';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { postJson } from '../server-process.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import {
  type Console,
  chooseOption,
  closeSidebar,
  openConsole,
  openSidebar,
  removed,
  submitInput,
  visible,
} from './console.ts';

import { layoutProblems } from './layout.ts';

let app: Console;
let page: Page;

/** In the same tab, like a link, with the list of sessions in view. */
async function goTo(path: string): Promise<void> {
  await closeSidebar(page);
  await page.goto(`${app.server.http}/#${path}`);
  await openSidebar(page);
}

const rowOf = (page: Page, title: string): Locator =>
  page.locator('.session-row').filter({ has: page.locator('.session-title', { hasText: title }) });

async function choose(page: Page, title: string, item: string): Promise<void> {
  await rowOf(page, title).hover();
  await page.getByRole('button', { name: `Actions for ${title}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Resolves when this many turns of the session have ended. */
async function followedTurns(session: string, turns: number): Promise<void> {
  let ended = 0;
  for await (const { type } of connect({ url: app.server.http }).session(session).events())
    if (type === 'turn.ended' && ++ended === turns) return;
}

describe.skipIf(NO_BROWSER)('sessions', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open();
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a session of any client appears immediately, with the attached dialects', async () => {
    await goTo('/');
    await visible(page.getByText('No sessions yet.'));
    const client = await app.server.connect('/broadcast');
    client.send({ type: 'chat', message: 'hello from elsewhere', session_id: 'shows-up' });
    await visible(rowOf(page, 'hello from elsewhere').getByText('broadcast'));
    client.close();
    await removed(rowOf(page, 'hello from elsewhere').getByText('broadcast'));
  });

  test('a waiting session is marked, and the search finds by title', async () => {
    await submitInput(app.server, 'waits', 'run touch waiting.txt');
    await submitInput(app.server, 'other', 'hello there');
    await goTo('/');
    await visible(rowOf(page, 'touch waiting.txt').getByText('Needs approval', { exact: true }));
    await visible(rowOf(page, 'hello there'));
    await page.getByRole('searchbox').fill('WAITING');
    await removed(rowOf(page, 'hello there'));
    await removed(rowOf(page, 'hello from elsewhere'));
    expect(await page.locator('.session-row').count()).toBe(1);
    await page.getByRole('searchbox').fill('no such words');
    await visible(page.getByText('No results for “no such words”.'));
    await page.getByRole('searchbox').fill('');
    await visible(rowOf(page, 'hello there'));
  });

  test('a rename in one tab appears in the other', async () => {
    await submitInput(app.server, 'renamed', 'an old name');
    await goTo('/sessions/renamed');
    const other = await app.openBeside(page, '/approvals');
    await openSidebar(other);
    await visible(rowOf(other, 'an old name'));
    await page.bringToFront();
    await choose(page, 'an old name', 'Rename');
    await page.getByLabel('Title', { exact: true }).fill('A better name');
    await page.keyboard.press('Enter');
    await visible(rowOf(other, 'A better name'));
    await visible(page.getByRole('heading', { name: 'A better name' }));
    await other.close();
  });

  test('a dialog stays open when its session leaves the search', async () => {
    await submitInput(app.server, 'leaving', 'a needle in the hay');
    await goTo('/');
    const search = page.getByRole('searchbox', { name: 'Search titles and messages' });
    await search.fill('needle');
    // The list of the search replaces the one with an open menu.
    await removed(rowOf(page, 'hello there'));
    await choose(page, 'a needle in the hay', 'Rename');
    await page.getByLabel('Title', { exact: true }).fill('The found needle');
    const rename = { type: 'session.rename', title: 'only hay' };
    await postJson(`${app.server.http}/v1/sessions/leaving/commands`, rename);
    await removed(rowOf(page, 'a needle in the hay'));
    await page.keyboard.press('Enter');
    // It comes back into the search with its new title.
    await visible(rowOf(page, 'The found needle'));
    await search.fill('');
  });

  test('an archived session is only in the archive, and comes back with undo or restore', async () => {
    await submitInput(app.server, 'archived', 'to be archived');
    await goTo('/');
    await visible(rowOf(page, 'to be archived'));
    await choose(page, 'to be archived', 'Archive');
    await removed(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Undo' }).click();
    await visible(rowOf(page, 'to be archived'));
    await choose(page, 'to be archived', 'Archive');
    await removed(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show archived sessions' }).click();
    await choose(page, 'to be archived', 'Restore');
    await removed(rowOf(page, 'to be archived'));
    await page.getByRole('button', { name: 'Show current sessions' }).click();
    await visible(rowOf(page, 'to be archived'));
  });

  test('a pinned session is first, in every tab', async () => {
    await submitInput(app.server, 'pinned', 'keep this');
    await submitInput(app.server, 'newer', 'newer than that');
    await goTo('/');
    await visible(rowOf(page, 'newer than that'));
    await choose(page, 'keep this', 'Pin');
    const pinned = page.getByRole('region', { name: 'Pinned' });
    await visible(pinned.getByRole('link', { name: /keep this/ }));
    expect(await rowOf(page, 'keep this').count()).toBe(1);
    const other = await app.openBeside(page, '/approvals');
    await openSidebar(other);
    await visible(other.getByRole('region', { name: 'Pinned' }));
    await other.close();
    await choose(page, 'keep this', 'Unpin');
    await removed(pinned);
    await visible(rowOf(page, 'keep this'));
  });

  test('sessions are tagged, and filtered by tag', async () => {
    await submitInput(app.server, 'tagged', 'a tagged one');
    await goTo('/');
    await choose(page, 'a tagged one', 'Tags');
    await page.getByLabel('Tags, separated by commas').fill('work, Berlin, WORK');
    await page.getByRole('button', { name: 'Save' }).click();
    await visible(rowOf(page, 'a tagged one').getByText('Berlin'));
    await chooseOption(page.getByLabel('Filter by tag'), 'work');
    await removed(rowOf(page, 'keep this'));
    await visible(rowOf(page, 'a tagged one'));
    await chooseOption(page.getByLabel('Filter by tag'), '');
    await visible(rowOf(page, 'keep this'));
  });

  test('the search finds messages, and opens the session at the message', async () => {
    await submitInput(app.server, 'found', 'count to 7');
    await submitInput(app.server, 'found', 'the capybara sleeps');
    await goTo('/');
    await page.getByRole('searchbox').fill('capyb');
    const messages = page.getByRole('region', { name: 'Messages' });
    await visible(messages.getByRole('link', { name: /the capybara sleeps/ }).first());
    expect(await messages.locator('mark').first().textContent()).toBe('capybara');
    // No title matches, which is worth no words.
    expect(await page.getByText(/^No /).count()).toBe(0);
    await messages.getByRole('link', { name: /You ·/ }).click();
    await page.waitForURL(/#\/sessions\/found\?event=\d+$/);
    const hit = page.locator('.row[data-found]');
    await visible(hit.getByText('the capybara sleeps'));
    // With its outline.
    const top = (await page.locator('.transcript').boundingBox())?.y ?? 0;
    await until(async () => ((await hit.boundingBox())?.y ?? 0) >= top + 8);
    await openSidebar(page);
    await page.getByRole('searchbox').fill('"<img src=x onerror=alert(1)> OR *');
    await visible(page.getByText('No results for “"<img src=x onerror=alert(1)> OR *”.'));
    await page.getByRole('searchbox').fill('');
  });

  test.each([
    ['Markdown', 'to be exported.md', '## You\n\nto be exported'],
    ['HTML', 'to be exported.html', '<p class="plain">to be exported</p>'],
    ['JSONL', 'to be exported.jsonl', '"type":"input.accepted"'],
  ])('an export as %s is a file', async (format, name, content) => {
    await submitInput(app.server, 'exported', 'to be exported');
    await goTo('/');
    await visible(rowOf(page, 'to be exported'));
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
    await submitInput(app.server, 'shared', 'to be shared');
    await submitInput(app.server, 'shared', 'and a second question');
    await followedTurns('shared', 2);
    await goTo('/');
    await choose(page, 'to be shared', 'Share');
    const dialog = page.getByRole('dialog', { name: 'Share session' });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const address = await dialog.getByLabel('Link', { exact: true }).inputValue();
    const reader = await app.browser.newPage(app.screen);
    await reader.goto(address);
    await visible(reader.getByRole('heading', { name: 'to be shared' }));
    await prepare(reader);
    for (const width of [320, 768, 1_440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await reader.setViewportSize({ width, height: 900 });
        await reader.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect([width, await accessibilityProblems(reader, 'all')]).toEqual([width, []]);
        expect([width, await layoutProblems(reader)]).toEqual([width, []]);
        if (process.env.SCREENSHOT)
          await reader.screenshot({ path: `${process.env.SCREENSHOT}.share-${width}-${colorScheme}.png` });
      }
    const outline = reader.getByRole('navigation', { name: 'Outline' });
    await outline.getByRole('link', { name: 'and a second question' }).click();
    await visible(reader.locator('article:target', { hasText: 'and a second question' }));
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await removed(dialog.getByRole('list', { name: 'Links' }));
    await reader.reload();
    await visible(reader.getByRole('heading', { name: 'Link not found' }));
    await reader.context().close();
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test('a dialog closes when its page is left', async () => {
    await submitInput(app.server, 'left', '# A *title* of `the` session');
    await goTo('/settings');
    await goTo('/sessions/left');
    // Titles are not rendered as Markdown.
    await visible(page.getByRole('heading', { level: 1, name: 'A title of the session', exact: true }));
    await choose(page, 'A title of the session', 'Rename');
    const dialog = page.getByRole('dialog', { name: 'Rename session' });
    await visible(dialog);
    await page.goBack();
    await removed(dialog);
    await visible(page.getByRole('heading', { level: 1, name: 'Settings' }));
  });

  test('a dialog has room for a title without spaces', async () => {
    const title = 'Donaudampfschifffahrtsgesellschaft'.repeat(2);
    await submitInput(app.server, 'long', title);
    await goTo('/');
    await choose(page, title, 'Delete');
    const dialog = page.getByRole('dialog');
    await visible(dialog.getByText(title));
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.keyboard.press('Escape');
    await removed(dialog);
  });

  test('a deleted session is gone, and its reader is redirected', async () => {
    await submitInput(app.server, 'deleted', 'to be deleted');
    await goTo('/sessions/deleted');
    await choose(page, 'to be deleted', 'Delete');
    await visible(page.getByRole('heading', { name: 'Delete session?' }));
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await removed(rowOf(page, 'to be deleted'));
    await page.waitForURL(/#\/$/);
    expect((await fetch(`${app.server.http}/v1/sessions/deleted`)).status).toBe(404);
  });
});
