/** Rewinding a turn that has changed five files, one of which somebody else has changed since. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { DictatedModel } from '../scripted-model.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';

let chat: DictatedChat;
let model: DictatedModel;
let page: Page;

const at = (path: string) => join(chat.app.server.root, path);
const read = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null);
const FILES = ['a.ts', 'b.ts', 'c.ts', 'gone.ts', 'src/new.ts'];
const state = () => Object.fromEntries(FILES.map((path) => [path, read(path)]));

const PATCH = [
  '*** Begin Patch',
  ...['a', 'b', 'c'].flatMap((name) => [
    `*** Update File: ${name}.ts`,
    '@@',
    `-export const ${name} = 1;`,
    `+export const ${name} = 2;`,
  ]),
  '*** Delete File: gone.ts',
  '*** Add File: src/new.ts',
  '+export const made = true;',
  '*** End Patch',
].join('\n');

async function changeFiveFiles(): Promise<void> {
  for (const name of ['a', 'b', 'c']) writeFileSync(at(`${name}.ts`), `export const ${name} = 1;\n`);
  writeFileSync(at('gone.ts'), 'export const gone = 1;\n');
  await chat.send('Change five files');
  model.call('apply_patch', { patch: PATCH });
  model.say('Changed.');
  model.end();
  await visible(chat.answer('Changed.'));
  await removed(chat.stopButton);
}

describe.skipIf(NO_BROWSER)('rewind', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open({ TOOL_USE_APPROVAL_MODE: 'auto-edit' });
    ({ model, page } = chat);
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('shows what it does, keeps what somebody else has changed, and is undone', async () => {
    await chat.begin();
    const before = () => ({ 'a.ts': 'export const a = 1;\n', 'b.ts': 'export const b = 1;\n' });
    await changeFiveFiles();
    const after = state();
    expect(after['gone.ts']).toBeNull();
    writeFileSync(at('c.ts'), 'export const c = 3; // by hand\n');
    await page.getByRole('button', { name: 'Rewind' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rewind to before this message?' });
    await visible(dialog.getByText('it was changed since by somebody else'));
    expect(await dialog.locator('.rewind-files > li').count()).toBe(6);
    await dialog.locator('summary', { hasText: 'a.ts' }).click();
    await visible(dialog.locator('.patch-added', { hasText: 'export const a = 1;' }).first());
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await visible(page.getByText('Rewound the conversation and 4 files.'));
    await visible(page.getByText('Kept c.ts: it was changed since by somebody else.'));
    await removed(chat.answer('Changed.'));
    expect(state()).toMatchObject({ ...before(), 'src/new.ts': null, 'gone.ts': 'export const gone = 1;\n' });
    expect(existsSync(at('src'))).toBe(false);
    expect(read('c.ts')).toContain('by hand');

    await page.getByRole('button', { name: 'Undo the rewind' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this rewind?' });
    await undo.getByRole('button', { name: 'Undo the rewind' }).click();
    await visible(page.getByText(/Undid the rewind of the conversation and 4 files/));
    await visible(chat.answer('Changed.'));
    expect(state()).toEqual({ ...after, 'c.ts': 'export const c = 3; // by hand\n' });
    await page.reload();
    await visible(chat.answer('Changed.'));
    await visible(page.getByText('Rewound the conversation and 4 files, undone since.'));
  });

  test('restores what is named although somebody else has changed it', async () => {
    await chat.begin();
    await changeFiveFiles();
    writeFileSync(at('c.ts'), 'by hand\n');
    await page.getByRole('button', { name: 'Rewind' }).click();
    await page.getByLabel('Restore c.ts nevertheless').check();
    await page.getByRole('checkbox', { name: 'Conversation' }).uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Rewind', exact: true }).click();
    await visible(page.getByText('Rewound 4 files.'));
    await visible(chat.answer('Changed.'));
    expect(read('c.ts')).toBe('export const c = 1;\n');
  });
});
