/** Patches in the chat: line numbers, colours and deleted files, with approval and without. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import type { Locator, Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, submitInput, visible } from './console.ts';

const SETTINGS = "export const settings = {\n  host: '127.0.0.1', // local\n  port: 3000,\n};\n";

let app: Console;
let page: Page;

async function openSession(id: string): Promise<void> {
  await page.goto(`${app.server.http}/#/sessions/${id}`);
}

/** Each visible line as number, sign and text. */
async function linesOf(patch: Locator, kind: 'removed' | 'added'): Promise<string[]> {
  const cells = await patch.locator(`.patch-cell.patch-${kind}`).all();
  return Promise.all(cells.map(async (cell) => (await cell.innerText()).replace(/\s+/g, ' ').trim()));
}

/** Playwright has no types of the browser. */
const colourOf = (element: Locator): Promise<string> =>
  element.evaluate((node) => Reflect.get(globalThis, 'getComputedStyle')(node).color);

async function expectReadable(): Promise<void> {
  await prepare(page);
  expect(await accessibilityProblems(page, 'all')).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
}

describe.skipIf(NO_BROWSER)('patches', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open('/', { reducedMotion: 'reduce' });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('an approval shows numbers and colours, and the call shows the same patch afterwards', async () => {
    await Bun.write(join(app.server.root, 'settings.ts'), SETTINGS);
    await submitInput(app.server, 'numbered', 'replace 3000 with 8080 in settings.ts');
    await openSession('numbered');
    const asked = page.locator('.approval .patch');
    await visible(asked.locator('[class*="syntax-"]').first());
    expect(await linesOf(asked, 'removed')).toEqual(['3 - port: 3000,']);
    expect(await linesOf(asked, 'added')).toEqual(['3 + port: 8080,']);
    // What has changed is marked, and keeps the colour of the syntax.
    const number = asked.locator('.patch-added mark.syntax-number');
    expect(await number.textContent()).toBe('8080');
    const [colour, plain] = await Promise.all([number, asked.locator('.patch-added code')].map(colourOf));
    expect(colour).not.toBe(plain);
    await expectReadable();
    await page.keyboard.press('y');
    const done = page.getByRole('region', { name: 'Changed settings.ts' });
    await visible(page.locator('.call', { hasText: 'apply_patch' }).getByText('Done', { exact: true }));
    await visible(done.locator('[class*="syntax-"]').first());
    expect(await linesOf(done, 'added')).toEqual(['3 + port: 8080,']);
    await visible(page.locator('.call .output').getByText('M settings.ts'));
  });

  test('without approval, numbers and the content of deleted files are shown, too', async () => {
    await Bun.write(join(app.server.root, 'settings.ts'), SETTINGS);
    const session = connect({ url: app.server.http }).session('unasked');
    await session.create({});
    await session.configure({ approval: 'auto-edit' });
    await session.submit([{ type: 'text', text: 'replace 3000 with 8080 in settings.ts' }]);
    await openSession('unasked');
    const calls = page.locator('.call').filter({ hasText: 'apply_patch' });
    const changed = calls.first();
    await visible(changed.getByText('Done', { exact: true }));
    expect(await changed.locator('.call-summary').textContent()).toBe('settings.ts');
    await changed.getByRole('button', { name: /apply_patch/ }).click();
    await visible(changed.locator('.patch'));
    expect(await linesOf(changed, 'removed')).toEqual(['3 - port: 3000,']);
    expect(await linesOf(changed, 'added')).toEqual(['3 + port: 8080,']);
    await expectReadable();
    await page.setViewportSize({ width: 320, height: 640 });
    const [upper, lower] = await Promise.all(
      ['removed', 'added'].map((kind) => changed.locator(`.patch-cell.patch-${kind}`).boundingBox()),
    );
    expect(lower?.x).toBe(upper?.x);
    expect(lower?.y).toBeGreaterThan(upper?.y ?? 0);
    await page.setViewportSize(app.screen.viewport);

    await session.submit([{ type: 'text', text: 'delete file settings.ts' }]);
    const deleted = calls.nth(1);
    await visible(deleted.getByText('Done', { exact: true }));
    await deleted.getByRole('button', { name: /apply_patch/ }).click();
    await visible(deleted.getByRole('region', { name: 'Deleted settings.ts' }));
    expect(await linesOf(deleted, 'removed')).toEqual([
      '1 - export const settings = {',
      "2 - host: '127.0.0.1', // local",
      '3 - port: 8080,',
      '4 - };',
    ]);
    await expectReadable();
  });
});
