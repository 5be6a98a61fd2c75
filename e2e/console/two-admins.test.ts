/** Two admins change the same settings: unsaved input stays, and the rest follows. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { connect } from '../../packages/sdk/src/index.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, validationMessageOf, visible } from './console.ts';

const PATH = '/admin?section=model';

let app: Console;
let vendor: ReturnType<typeof Bun.serve>;
let address: string;

const admin = () => connect({ url: app.server.http }).admin;

async function change(values: Parameters<ReturnType<typeof admin>['settings']['change']>[0]['values']) {
  const { settings } = admin();
  const { version } = await settings.read();
  await settings.change({ version, values });
}

const outdated = (within: Page | Locator) =>
  within.getByText('Another admin changed these settings meanwhile.');
const load = (within: Page | Locator) => within.getByRole('button', { name: 'Load the new settings' });
const nameOf = (page: Page) => page.getByRole('combobox', { name: 'Model' });
const hasValue = (field: Locator, value: string) => until(async () => (await field.inputValue()) === value);

async function problemsOn(page: Page): Promise<string[]> {
  await prepare(page);
  return accessibilityProblems(page, 'all');
}

describe.skipIf(NO_BROWSER)('two admins', () => {
  beforeAll(async () => {
    const models = { data: ['one', 'two', 'three', 'four'].map((id) => ({ id })) };
    vendor = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(models) });
    address = `http://127.0.0.1:${vendor.port}/v1`;
    app = await openConsole();
    await change({ provider: 'openai', openaiBaseUrl: address, model: 'one' });
  });
  afterAll(async () => {
    await app?.stop();
    await vendor?.stop(true);
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('have the model settings open: what one saves, the other sees without losing input', async () => {
    const [first, second] = [await app.open(PATH), await app.open(PATH)];
    await hasValue(nameOf(second), 'one');
    await second.getByLabel('API key').fill('sk-unsaved');
    await nameOf(first).fill('two');
    await first.getByRole('button', { name: 'Save', exact: true }).click();
    for (const page of [first, second]) await visible(page.getByText(`two at ${address} is in use.`));
    await visible(outdated(second));
    expect(await second.getByLabel('API key').inputValue()).toBe('sk-unsaved');
    await hasValue(nameOf(second), 'two');
    expect(await problemsOn(second)).toEqual([]);
    expect(await outdated(first).count()).toBe(0);

    await load(second).click();
    await removed(outdated(second));
    await visible(second.locator('button[type=submit]:focus'));
    expect(await second.getByLabel('API key').inputValue()).toBe('');
    await change({ model: 'three' });
    for (const page of [first, second]) {
      await hasValue(nameOf(page), 'three');
      expect(await outdated(page).count()).toBe(0);
      await page.context().close();
    }
  });

  test('a change that has not been noticed yet refuses the other one, whose input stays', async () => {
    const page = await app.open('/settings');
    // The stream of changes never begins.
    await page.route('**/v1/activity', () => undefined);
    await page.reload();
    await page.goto(`${app.server.http}/#${PATH}`);
    await hasValue(nameOf(page), 'three');
    await page.getByRole('radio', { name: 'Offline demo model' }).check();
    await change({ model: 'four' });
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await visible(outdated(page));
    expect(app.problems()).toEqual([expect.stringContaining('409 (Conflict)')]);
    expect(await page.getByRole('radio', { name: 'Offline demo model' }).isChecked()).toBe(true);
    await save.click();
    await visible(page.getByText(/^The offline demo model is in use/));
    await removed(outdated(page));
    await page.context().close();
  });

  test('edit the same agent', async () => {
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'Edit Reviewer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Reviewer' });
    await dialog.getByLabel('Description').fill('Reads patches.');
    await change({ agents: [{ id: 'reviewer', name: 'Reviewer', instructions: 'Review twice.' }] });
    await hasValue(dialog.getByLabel('Instructions'), 'Review twice.');
    await visible(outdated(dialog));
    expect(await dialog.getByLabel('Description').inputValue()).toBe('Reads patches.');
    expect(await problemsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    const saved = (await admin().agents()).agents.find(({ id }) => id === 'reviewer');
    expect(saved).toMatchObject({ description: 'Reads patches.', instructions: 'Review twice.' });
    await page.context().close();
  });

  test('add an agent with the same id: the second one is refused, and its input stays', async () => {
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'New agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await dialog.getByLabel('Name', { exact: true }).fill('Pirate');
    await dialog.getByLabel('Id').fill('pirate');
    await dialog.getByLabel('Instructions').fill('Talk like a pirate.');
    const other = { id: 'pirate', name: 'Captain', instructions: 'Sail.' };
    await change({ agents: [other] });
    await visible(page.getByRole('list', { name: 'Agents' }).getByText('Captain'));
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await validationMessageOf(dialog.getByLabel('Id'))).toBe('Captain already exists.');
    expect((await admin().settings.read()).stored.agents).toEqual([other]);
    await dialog.getByLabel('Id').fill('corsair');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    expect((await admin().settings.read()).stored.agents).toMatchObject([
      other,
      { id: 'corsair', name: 'Pirate', instructions: 'Talk like a pirate.' },
    ]);
    await page.context().close();
  });

  test('edit the same domain', async () => {
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'New domain' }).click();
    const added = page.getByRole('dialog', { name: 'New domain' });
    await added.getByLabel('Name', { exact: true }).fill('High seas');
    await added.getByLabel('Id').fill('seas');
    await added.getByRole('button', { name: 'Save' }).click();
    await removed(added);
    await page.getByRole('button', { name: 'Edit the domain High seas' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit High seas' });
    await dialog.getByLabel('Name', { exact: true }).fill('Low seas');
    const { stored } = await admin().settings.read();
    const domain = (stored.domains as { id: string }[]).find(({ id }) => id === 'seas');
    await change({ domains: [{ ...domain, description: 'Ships only.' }] });
    await hasValue(dialog.getByLabel('Description'), 'Ships only.');
    await visible(outdated(dialog));
    await load(dialog).click();
    await hasValue(dialog.getByLabel('Name', { exact: true }), 'High seas');
    await removed(outdated(dialog));
    await visible(dialog.locator('button[type=submit]:focus'));
    await page.context().close();
  });
});
