/** A chain of models in the console: which one answered, and the chain of an agent. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

let app: Console;
let model: ScriptedModel;

describe.skipIf(NO_BROWSER)('a chain of models', () => {
  beforeAll(async () => {
    model = scriptedModel(({ model: name }) =>
      name === 'large'
        ? { status: 429, headers: { 'retry-after': '120' }, message: 'Slow down.' }
        : { say: `Hello from ${name}.` },
    );
    app = await openConsole({ ...model.settings, MODEL: 'large,small' });
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('the conversation shows which model answered, and why', async () => {
    const page = await app.open('/');
    await page.getByRole('textbox', { name: /message/i }).fill('Hello');
    await page.keyboard.press('Enter');
    await visible(page.locator('.markdown').getByText('Hello from small.', { exact: true }));
    await visible(page.getByText(/rate limit .* is reached.*Slow down\. small answers instead\./i));
    await visible(page.getByText('Answered by small', { exact: true }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
  });

  test('the chain of an agent is edited in its dialog, with the keyboard', async () => {
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'New agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await dialog.getByLabel('Name', { exact: true }).fill('Cook');
    await dialog.getByLabel('Instructions').fill('Cook.');
    const choose = async (button: string | RegExp, name: string) => {
      await dialog.getByRole('button', { name: button }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('combobox', { name: 'Search models' }).fill(name);
      await page.keyboard.press('Enter');
      await removed(page.getByRole('dialog', { name: 'Choose a model' }));
    };
    expect(await dialog.getByRole('group', { name: 'If it is unavailable' }).count()).toBe(0);
    await choose(/^Model:/, 'huge');
    const group = dialog.getByRole('group', { name: 'If it is unavailable' });
    for (const name of ['medium', 'small', 'tiny']) await choose('Add a model', name);
    const items = () => group.getByRole('listitem').allInnerTexts();
    expect((await items()).map((text) => text.trim())).toEqual(['medium', 'small', 'tiny']);
    await group.getByRole('button', { name: 'Ask small earlier' }).press('Enter');
    await group.getByRole('button', { name: 'Do not ask tiny' }).press('Enter');
    expect((await items()).map((text) => text.trim())).toEqual(['small', 'medium']);
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.agent.png` });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    await visible(page.getByText('huge, small, medium', { exact: true }));
  });
});
