/** Choosing a model from the lists of the vendors, in the chat and for an agent. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Json } from '../../packages/protocol/src/index.ts';
import { connect } from '../../packages/sdk/src/index.ts';
import { freePort } from '../../packages/server/src/testing/free-port.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { scriptedModel } from '../scripted-model.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

const NAMES = ['claude-shared', ...Array.from({ length: 249 }, (_, index) => `model-${index + 1}`)];

/** The search also looks at the address of the gateway. */
function portWithout(digits: string): number {
  const port = freePort();
  return String(port).includes(digits) ? portWithout(digits) : port;
}

/** A gateway with many models, that can be switched off. */
function gatewayServer() {
  const answering = scriptedModel(({ model }) => ({ say: `Hello from ${model}.` }));
  let isUp = true;
  let lists = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: portWithout('24'),
    fetch(request) {
      if (!isUp) return new Response('', { status: 503 });
      if (new URL(request.url).pathname !== '/v1/models')
        return fetch(`${answering.url}/chat/completions`, { method: 'POST', body: request.body });
      lists++;
      return Response.json({ data: NAMES.map((id) => ({ id })) });
    },
  });
  return {
    host: `127.0.0.1:${server.port}`,
    lists: () => lists,
    turn(on: boolean) {
      isUp = on;
    },
    stop() {
      answering.stop();
      return server.stop(true);
    },
  };
}

let app: Console;
let gateway: ReturnType<typeof gatewayServer>;

async function change(values: Readonly<Record<string, Json>>): Promise<void> {
  const { settings } = connect({ url: app.server.http }).admin;
  const { version } = await settings.read();
  await settings.change({ version, values });
}

const panelOf = (page: Page) => page.getByRole('dialog', { name: 'Choose a model' });
const button = (page: Page) => page.getByRole('button', { name: /^Model:/ });

async function opened(page: Page) {
  await button(page).click();
  const panel = panelOf(page);
  await visible(panel);
  return { panel, field: panel.getByRole('combobox', { name: 'Search models' }) };
}

/** Waits until the option is the current one, also for a screen reader. */
async function isActive(page: Page, name: string): Promise<void> {
  const option = panelOf(page)
    .locator('[data-active]')
    .filter({ has: page.getByText(name, { exact: true }) });
  await visible(option);
  const field = panelOf(page).getByRole('combobox');
  expect(await field.getAttribute('aria-activedescendant')).toBe(await option.getAttribute('id'));
}

async function answered(page: Page, model: string): Promise<void> {
  await page.getByRole('textbox', { name: /message/i }).fill('hello');
  await page.keyboard.press('Enter');
  await visible(page.locator('.markdown').getByText(`Hello from ${model}.`, { exact: true }));
}

describe.skipIf(NO_BROWSER)('the models of a vendor', () => {
  beforeAll(async () => {
    gateway = gatewayServer();
    app = await openConsole();
    await change({ provider: 'openai', openaiBaseUrl: `http://${gateway.host}/v1`, model: 'model-1' });
  });
  afterAll(async () => {
    await app?.stop();
    await gateway?.stop();
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('are in the picker of the chat, and are found and chosen with the keyboard', async () => {
    const page = await app.open('/');
    await visible(button(page));
    expect(gateway.lists()).toBe(0);
    const { panel, field } = await opened(page);
    const group = panel.getByRole('group', { name: gateway.host });
    await visible(group.getByRole('option', { name: 'claude-shared' }));
    await visible(panel.getByText('200 of 251 models. Type to narrow the list.'));
    await isActive(page, 'model-1 (default)');
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    const { x = -1, y = -1, width = 0, height = 0 } = (await panel.boundingBox()) ?? {};
    const { viewport } = app.screen;
    expect([x >= 0, y >= 0, x + width <= viewport.width, y + height <= viewport.height]).toEqual([
      true,
      true,
      true,
      true,
    ]);

    await field.fill('MODEL 24');
    await isActive(page, 'model-24');
    await page.keyboard.press('ArrowDown');
    await isActive(page, 'model-124');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await isActive(page, 'Use “MODEL 24”');
    await page.keyboard.press('Escape');
    await removed(panel);
    await page.keyboard.press('Enter');
    await field.fill('model-249');
    await page.keyboard.press('Enter');
    await removed(panel);
    await visible(page.getByRole('button', { name: 'Model: model-249' }));
    await answered(page, 'model-249');

    await opened(page);
    await field.fill('claude');
    await panel.getByRole('option', { name: 'claude-shared' }).click();
    await visible(page.getByRole('button', { name: 'Model: claude-shared' }));
    await answered(page, 'claude-shared');
    expect(gateway.lists()).toBe(1);
    await page.context().close();
  });

  test('that is the default changes in open chats when an admin chooses another one', async () => {
    const page = await app.open('/');
    const beside = await app.openBeside(page, '/');
    await answered(beside, 'model-1');
    for (const one of [page, beside])
      await visible(one.getByRole('button', { name: 'Model: model-1 (default)' }));
    await page.getByRole('textbox', { name: /message/i }).fill('half a sent');
    await change({ model: 'model-7' });
    for (const one of [page, beside])
      await visible(one.getByRole('button', { name: 'Model: model-7 (default)' }));
    await visible(page.getByText('Model: model-7.'));
    expect(await page.getByRole('textbox', { name: /message/i }).inputValue()).toBe('half a sent');

    await page.goto(`${app.server.http}/#/admin?section=model`);
    await page.getByRole('combobox', { name: 'Model' }).fill('model-1');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await visible(beside.getByRole('button', { name: 'Model: model-1 (default)' }));
    await page.goto(`${app.server.http}/#/`);
    await visible(page.getByRole('button', { name: 'Model: model-1 (default)' }));
    await page.context().close();
  });

  test('are completed after /model', async () => {
    const page = await app.open('/');
    const message = page.getByRole('textbox', { name: /message/i });
    const options = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    await message.fill('/model ');
    await visible(options.filter({ hasText: 'claude-shared' }));
    expect(await options.count()).toBe(21);
    await message.fill('/model model-249');
    await until(async () => (await options.count()) === 1);
    await visible(options.filter({ hasText: gateway.host }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await message.fill('/model model-24');
    await until(async () => (await options.first().locator('strong').textContent()) === 'model-24');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('button', { name: 'Model: model-240' }));
    await message.fill('/model shared');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('button', { name: 'Model: claude-shared' }));
    await answered(page, 'claude-shared');
    await message.fill('/model default');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('button', { name: 'Model: model-1 (default)' }));
    await page.context().close();
  });

  test('that is not listed can be entered', async () => {
    const page = await app.open('/');
    const { field } = await opened(page);
    await field.fill('new-model');
    await visible(panelOf(page).getByText('No listed model matches.'));
    await page.keyboard.press('Enter');
    await answered(page, 'new-model');
    await page.context().close();
  });

  test('are in the dialog of an agent', async () => {
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'Edit Reviewer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Reviewer' });
    const { field, panel } = await opened(page);
    await field.fill('claude');
    await visible(panel.getByRole('option', { name: 'claude-shared' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.keyboard.press('Escape');
    await removed(panel);
    await visible(dialog);
    await page.keyboard.press('Enter');
    await field.fill('claude');
    await page.keyboard.press('Enter');
    await visible(dialog.getByRole('button', { name: 'Model: claude-shared' }));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    const { agents } = await connect({ url: app.server.http }).admin.agents();
    expect(agents.find(({ id }) => id === 'reviewer')?.model).toBe('claude-shared');
    await page.context().close();
  });

  test('are missing while the vendor cannot be reached, with the reason and another try', async () => {
    gateway.turn(false);
    await change({ model: 'model-2', anthropicBaseUrl: 'http://127.0.0.1:9' });
    const page = await app.open('/');
    const { panel } = await opened(page);
    const problem = panel.getByRole('alert');
    await visible(problem.getByText(`${gateway.host}: the list of models cannot be loaded.`));
    await visible(problem.getByText('Nothing listens at 127.0.0.1:9.'));
    await visible(problem.getByRole('link', { name: 'Model settings' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    gateway.turn(true);
    await change({ anthropicBaseUrl: null });
    await problem.getByRole('button', { name: 'Try again' }).click();
    await removed(problem);
    await visible(panel.getByRole('option', { name: 'model-3', exact: true }));
    await page.context().close();
  });
});
