/** Skills of the server: added by upload and from a folder, shown, offered to one agent, and removed. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { chooseOption, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

let chat: DictatedChat;

async function problemsOn(page: Page): Promise<string[]> {
  await prepare(page);
  return accessibilityProblems(page, 'all');
}

const text = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\nDo it carefully.\n`;

describe.skipIf(NO_BROWSER)('skills', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('are added, shown, offered to one agent and removed', async () => {
    const { page, app } = chat;
    await page.goto(`${app.server.http}/#/admin?section=skills`);
    await visible(page.getByText('No skills'));
    expect(await layoutProblems(page)).toEqual([]);

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add skill' }).click();
    expect(await problemsOn(page)).toEqual([]);
    await dialog.getByLabel('Or a SKILL.md').setInputFiles({
      name: 'SKILL.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from(text('release', 'Prepares a release.')),
    });
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const rows = page.getByRole('list', { name: 'Skills', exact: true }).getByRole('listitem');
    await visible(rows.filter({ hasText: 'Prepares a release.' }));

    const folder = join(app.server.root, '.agents/skills/code-review');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), text('code-review', 'Reviews code.'));
    await page.getByRole('button', { name: 'Add skill' }).click();
    await dialog.getByLabel(/copy a folder/).fill('.agents/skills/code-review');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await visible(rows.filter({ hasText: 'Reviews code.' }).getByText('Offered to all agents'));
    expect(await layoutProblems(page)).toEqual([]);

    for (const [width, scheme] of [
      [320, 'dark'],
      [768, 'light'],
      [1440, 'dark'],
      [1440, 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await layoutProblems(page)).toEqual([]);
    }
    await page.getByRole('button', { name: 'View release' }).click();
    await visible(dialog.getByText('Do it carefully.'));
    expect(await layoutProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await removed(dialog);

    await page.goto(`${app.server.http}/#/admin?section=agents`);
    await page.getByRole('button', { name: 'Edit Coder' }).click();
    await chooseOption(dialog.getByRole('combobox', { name: 'Skills', exact: true }), 'Only selected skills');
    expect(await problemsOn(page)).toEqual([]);
    await dialog.getByRole('checkbox', { name: 'release' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    await page.goto(`${app.server.http}/#/admin?section=skills`);
    const review = rows.filter({ hasText: 'Reviews code.' });
    await visible(review.getByText(/^Offered to (?!all)/));
    expect(await review.innerText()).not.toContain('Coder');

    await page.getByRole('button', { name: 'Remove release' }).click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await removed(rows.filter({ hasText: 'Prepares a release.' }));
  });
});
