/** Long work: runs of calls are one line, and a turn ends with the files that it changed. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { holds, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

const BELOW = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
  document.querySelector('.transcript'))`;
const patchOf = (path: string, lines: readonly string[]) =>
  ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), '*** End Patch'].join(
    '\n',
  );

let chat: DictatedChat;
let page: Page;

const run = (): Locator => page.locator('.run-line').last();
const list = () => chat.model.call('list_files', { path: '.' });

async function expectReadable(): Promise<void> {
  await prepare(page);
  for (const width of [320, 768, 1_440, 2_560]) {
    await page.setViewportSize({ width, height: 900 });
    await visible(page.locator('.row').first());
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect([width, colorScheme, await accessibilityProblems(page, 'all')]).toEqual([
        width,
        colorScheme,
        [],
      ]);
    }
    expect([width, await layoutProblems(page)]).toEqual([width, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
  await page.setViewportSize(chat.app.screen.viewport);
}

describe.skipIf(NO_BROWSER)('long work', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open({ TOOL_USE_APPROVAL_MODE: 'auto-edit', MAX_ITERATIONS: '100' });
    page = chat.page;
    await Bun.write(join(chat.app.server.root, 'notes.txt'), 'notes\n');
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('a run counts while it grows, keeps its last call and failures in view, and folds', async () => {
    await chat.begin();
    await chat.send('Look at everything');
    // The page of a session is loaded after the first view.
    await visible(page.locator('.transcript'));
    for (let call = 1; call <= 5; call++) {
      list();
      if (call > 2) await visible(run().getByText(`${call} searches`));
      await holds(page, `${BELOW} <= 1`);
    }
    expect(await page.locator('.call').count()).toBe(1);
    chat.model.call('read_file', { path: 'missing.txt' });
    await visible(run().getByText('1 failed'));
    chat.model.call('shell', { command: ['cat', 'notes.txt'] });
    await visible(run().getByText('1 command, 5 searches, 1 file read'));
    chat.model.say('Looked.');
    chat.model.end();
    await visible(page.locator('.turn-end'));
    expect(await page.locator('.call').count()).toBe(1);
    await visible(page.locator('.call', { hasText: 'missing.txt' }).getByText('Failed', { exact: true }));
    await holds(page, `${BELOW} <= 1`);
    await expectReadable();
  });

  test('a run opens with the pointer and with keys, and only the rows in view are in the document', async () => {
    await chat.begin();
    await chat.send('Look sixty times');
    for (let call = 1; call <= 60; call++) {
      list();
      if (call > 2) await visible(run().getByText(`${call} searches`));
    }
    chat.model.say('Looked.');
    chat.model.end();
    await visible(page.locator('.turn-end'));
    const head = run().getByRole('button');
    expect(await head.getAttribute('aria-expanded')).toBe('false');
    expect(await page.locator('.call').count()).toBe(0);
    await head.click();
    await visible(page.locator('.row[data-inside] .call').first());
    const shown = await page.locator('.call').count();
    expect(shown).toBeGreaterThan(3);
    expect(shown).toBeLessThan(60);
    await head.press('Enter');
    await removed(page.locator('.call').first());
    expect(await head.getAttribute('aria-expanded')).toBe('false');
    await head.press(' ');
    await visible(page.locator('.call').first());
    await expectReadable();
  });

  test('a pending approval in a run is answered in place', async () => {
    await chat.begin();
    await chat.send('Look and touch');
    for (let call = 1; call <= 3; call++) list();
    chat.model.call('shell', { command: ['touch', 'touched.txt'] });
    await visible(run().getByText('1 command, 3 searches'));
    await visible(run().getByText('1 waiting'));
    const card = page.locator('.approval[data-state=pending]');
    await visible(card);
    await chat.field.press('y');
    await removed(card);
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    chat.model.say('Touched.');
    chat.model.end();
    await visible(chat.answer('Touched.'));
    await removed(chat.stopButton);
    await removed(page.locator('.call'));
  });

  test('the end of a turn shows what it changed, all files in one view', async () => {
    await chat.begin();
    await chat.send('Write');
    chat.model.call('apply_patch', { patch: patchOf('one.ts', ['const one = 1;']) });
    chat.model.call('apply_patch', {
      patch: patchOf('folder/two.ts', ['const two = 2;', 'export { two };']),
    });
    chat.model.call('apply_patch', {
      patch: '*** Begin Patch\n*** Update File: one.ts\n@@\n-const one = 1;\n+const one = 11;\n*** End Patch',
    });
    chat.model.say('Written.');
    chat.model.end();
    await visible(page.locator('.turn-end'));
    await visible(run().getByText('2 files changed'));
    const changes = page.locator('.changed-files');
    expect(await changes.getByRole('button').first().innerText()).toMatch(/2 files changed\s*\+4\s*−1/);
    await changes.getByRole('button').first().press('Enter');
    await visible(changes.getByRole('region', { name: 'New file one.ts' }));
    await visible(changes.getByRole('region', { name: 'Changed one.ts' }));
    await visible(changes.getByRole('region', { name: 'New file folder/two.ts' }));
    await expectReadable();
  });
});
