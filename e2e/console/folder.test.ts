/** The working folder of a session: chosen for a new one, shown in the title bar, offered again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, visible } from './console.ts';
import { SIZES, THEMES } from './screen.ts';

const work = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-folders-')));
let app: Console;

describe.skipIf(NO_BROWSER)('the folder of a session', () => {
  beforeAll(async () => {
    mkdirSync(join(work, 'shop/src'), { recursive: true });
    writeFileSync(join(work, 'shop/only-here.txt'), '');
    app = await openConsole({ PARLANCE_WORK_FOLDERS: work });
  });
  afterAll(async () => {
    await app?.stop();
    rmSync(work, { recursive: true });
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('is chosen with a picker, shown in the title bar, and offered again', async () => {
    const page = await app.open('/');
    const dialog = page.getByRole('dialog', { name: 'Folder of the session' });
    await page.getByRole('button', { name: 'Folder: default' }).click();
    await dialog.getByRole('list', { name: 'Folders' }).getByTitle(work).click();
    await dialog.getByRole('button', { name: 'shop' }).click();
    await visible(dialog.getByRole('button', { name: 'src' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    if (process.env.PICTURES) {
      const before = page.viewportSize();
      for (const viewport of [...SIZES, { width: 2_560, height: 1_440 }])
        for (const colorScheme of THEMES) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          await page.screenshot({
            path: `${process.env.PICTURES}/folder-${viewport.width}-${colorScheme}.png`,
          });
        }
      if (before) await page.setViewportSize(before);
    }
    await dialog.getByRole('button', { name: 'Work here' }).click();
    await visible(page.getByRole('button', { name: 'Folder: shop' }));
    await page.getByRole('textbox', { name: 'Message' }).fill('run ls');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    await visible(page.getByTitle(`Works in ${join(work, 'shop')}`));
    await visible(page.getByText('only-here.txt').first());
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/folder-session.png` });

    await page.goto(`${app.server.http}/#/`);
    await page.getByRole('button', { name: 'Folder: default' }).click();
    await dialog.getByRole('list', { name: 'Recent' }).getByRole('button', { name: 'shop' }).click();
    await dialog.getByRole('button', { name: 'Up', exact: true }).click();
    await dialog.getByRole('button', { name: 'All folders' }).click();
    await dialog.getByRole('button', { name: 'Use the default' }).click();
    await visible(page.getByRole('button', { name: 'Folder: default' }));
    await page.context().close();
  });
});
