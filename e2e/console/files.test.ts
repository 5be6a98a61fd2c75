/** Files of the working folder beside the chat: lists, previews, versions, downloads and mentions. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { pdf } from '../../packages/ui/src/documents/testing.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { everyScreen } from './every-screen.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HOSTILE = `<h1 id="out">waiting</h1><script>
  fetch('/v1/server').then(() => 'worked', () => 'refused').then((so) => {
    document.getElementById('out').textContent = 'fetch ' + so;
  });
</script>`;

let chat: DictatedChat;
let page: Page;

const panel = () => page.getByRole('complementary', { name: 'Files' });
const open = (name: string) => panel().getByRole('button', { name, exact: false }).first().click();
const write = (path: string, content: string | Uint8Array) => {
  const at = join(chat.app.server.root, path);
  mkdirSync(join(at, '..'), { recursive: true });
  writeFileSync(at, content);
};

describe.skipIf(NO_BROWSER)('files', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open({ TOOL_USE_APPROVAL_MODE: 'auto-edit' });
    page = chat.page;
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 1_440, height: 900 });
    write('src/main.ts', 'export const answer = 42;\n');
    write('src/my notes.md', '# Notes\n\n```mermaid\ngraph TD; Begin-->End\n```\n');
    write('flow.mmd', 'graph TD; Begin-->End');
    write('page.html', HOSTILE);
    write('dot.png', Uint8Array.fromBase64(PIXEL));
    write('report.pdf', pdf(['Revenue grew']));
    write('program.bin', new Uint8Array([0, 1, 2]));
    write('long.txt', 'x'.repeat(1_200_000));
    await chat.begin();
    await chat.turn('Begin', 'Ready.');
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('are listed and shown by their kind, and nothing in them runs outside of the frame', async () => {
    await page.getByRole('button', { name: 'Files', exact: true }).click();
    await visible(panel().getByRole('button', { name: 'page.html' }).first());
    expect(await panel().locator('.file-name').allTextContents()).toEqual([
      'src',
      'dot.png',
      'flow.mmd',
      'long.txt',
      'page.html',
      'program.bin',
      'report.pdf',
    ]);
    await everyScreen(page, 'files-list');
    await open('page.html');
    await visible(page.frameLocator('.files iframe').getByRole('heading', { name: 'fetch refused' }));
    expect(chat.app.problems().filter((problem) => !problem.includes('Content Security Policy'))).toEqual([]);
    await panel().getByRole('button', { name: 'Source' }).click();
    await visible(panel().locator('code', { hasText: 'document.getElementById' }));
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('dot.png');
    const image = panel().getByRole('img', { name: 'dot.png' });
    await visible(image);
    expect(await image.evaluate((element) => ('naturalWidth' in element ? element.naturalWidth : 0))).toBe(1);
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('report.pdf');
    await visible(panel().getByText('Revenue grew'));
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('program.bin');
    await visible(panel().getByText('It is not text.'));
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('long.txt');
    await visible(panel().getByText('The first 1.0 MB.'));
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('flow.mmd');
    await visible(panel().locator('.previewed img, .previewed svg').first());
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('src');
    await open('my notes.md');
    await visible(panel().getByRole('heading', { name: 'Notes' }).last());
    await everyScreen(page, 'files-markdown');
    await panel().press('Escape');
    await removed(panel());
  });

  test('are found by a part of their path, saved, and named in the message', async () => {
    await page.getByRole('button', { name: 'Files', exact: true }).click();
    await panel().getByRole('searchbox', { name: 'Find a file' }).fill('notes');
    await visible(panel().getByRole('button', { name: 'Mention src/my notes.md' }));
    expect(await panel().locator('.file-name').allTextContents()).toEqual(['my notes.md']);
    await panel().getByRole('button', { name: 'Mention src/my notes.md' }).click();
    expect(await chat.field.inputValue()).toBe('@"src/my notes.md" ');
    await panel().getByRole('searchbox', { name: 'Find a file' }).fill('');
    await open('program.bin');
    const saving = page.waitForEvent('download');
    await panel().getByRole('button', { name: 'Download' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('program.bin');
    expect([...(await Bun.file((await saved.path()) ?? '').bytes())]).toEqual([0, 1, 2]);
    await chat.field.fill('');
    await panel().press('Escape');
    await removed(panel());
  });

  test('are completed after an at sign, with the keyboard', async () => {
    await chat.field.fill('');
    await chat.field.pressSequentially('Read @mai');
    const options = page.getByRole('listbox', { name: 'Files' }).getByRole('option');
    await visible(options.filter({ hasText: 'main.ts' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await chat.field.inputValue()).toBe('Read @src/main.ts ');
    await chat.field.pressSequentially('and @src/my');
    await visible(options.filter({ hasText: 'my notes.md' }));
    await page.keyboard.press('Tab');
    expect(await chat.field.inputValue()).toBe('Read @src/main.ts and @"src/my notes.md" ');
    await chat.field.pressSequentially('@none-of-these');
    await removed(options.first());
    await chat.field.fill('');
    // Before the first message, too.
    await chat.begin();
    await chat.field.pressSequentially('See @flow');
    await visible(options.filter({ hasText: 'flow.mmd' }));
    await page.keyboard.press('Escape');
    await removed(options.first());
    await chat.field.fill('');
  });

  test('have the versions that calls of the session have made', async () => {
    await chat.begin();
    await chat.turn('Begin', 'Ready.');
    const id = decodeURIComponent(page.url().split('/sessions/')[1] ?? '');
    for (const word of ['first', 'second'])
      await fetch(`${chat.app.server.http}/v1/sessions/${id}/commands`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          type: 'input.submit',
          parts: [],
          call: { tool: 'save_file', input: { path: 'draft.html', content: `<h1>The ${word} draft</h1>` } },
        }),
      });
    await visible(page.getByRole('button', { name: /1 file changed/ }).last());
    await page
      .getByRole('button', { name: /1 file changed/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Open draft.html' }).last().click();
    const heading = page.frameLocator('.files iframe').getByRole('heading');
    await visible(heading.filter({ hasText: 'The second draft' }));
    await visible(panel().getByText('Version 2 of 2'));
    await panel().getByRole('button', { name: 'Earlier version' }).click();
    await visible(heading.filter({ hasText: 'The first draft' }));
    await visible(panel().getByRole('link', { name: 'Written in this turn' }));
    await everyScreen(page, 'files-versions');
    write('draft.html', '<h1>By hand</h1>');
    await panel().getByRole('button', { name: 'Back to the folder' }).click();
    await open('draft.html');
    await visible(heading.filter({ hasText: 'By hand' }));
    await visible(panel().getByText('Version 3 of 3'));
    await visible(panel().getByText('changed since the last turn'));
  });
});
