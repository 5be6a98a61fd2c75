/** Actions that the worker executes itself: addresses, tabs, screenshots and code, with a scripted model. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { type Site, startSite } from './site.ts';
import { ended, pair, press, send } from './steps.ts';

let model: ScriptedModel;
let script: Answer[] = [];
let server: TestServer;
let extension: Extension;
let site: Site;
let other: Site;

const act = (action: string): Answer => ({
  call: 'browser_act',
  input: { thought: `I will ${action}`, action },
});
const DONE: Answer = { call: 'browser_finish', input: { outcome: 'completed', message: 'Done.' } };

const lastSeen = (): string => JSON.stringify(model.requests.at(-1)?.messages.at(-1));

/** Runs these actions as one task on a page of the site. */
async function run(path: string, ...actions: string[]): Promise<{ page: Page; panel: Page }> {
  script = [...actions.map(act), DONE];
  const page = await extension.open(site.http + path);
  const panel = await extension.panel(page);
  await send(panel, 'do it');
  await press(panel, 'Allow once');
  return { page, panel };
}

const close = (...pages: Page[]): Promise<unknown> => Promise.all(pages.map((page) => page.close()));

describe.skipIf(NO_BROWSER)('the browser', () => {
  beforeAll(async () => {
    [site, other] = [startSite(), startSite()];
    model = scriptedModel(() => script.shift() ?? DONE);
    [server, extension] = await Promise.all([
      startTestServer({ OPENAI_BASE_URL: model.url, MODEL: 'fake' }),
      openExtension(),
    ]);
    const panel = await extension.panel();
    await pair(panel, server);
    await panel.close();
  });
  afterAll(async () => {
    await extension?.close();
    await server?.stop();
    await Promise.all([site?.stop(), other?.stop()]);
    model?.stop();
  });

  test('navigates within the site, and back', async () => {
    const { page, panel } = await run('/', `navigate("${site.http}/counter")`, 'click(1)', 'goBack()');
    await ended(panel, 'Completed');
    expect(page.url()).toBe(`${site.http}/`);
    expect(lastSeen()).toContain('Contact');
    await close(panel, page);
  });

  test('asks before it navigates to another site, and stays if denied', async () => {
    const { page, panel } = await run('/', `navigate("${other.http}/counter")`);
    const ask = panel.getByRole('article', { name: 'Confirm the action' });
    await ask.getByText('It leads to another site.').waitFor();
    await ask.getByRole('button', { name: 'Deny' }).click();
    await ended(panel, 'Completed');
    expect(page.url()).toBe(`${site.http}/`);
    expect(lastSeen()).toContain('did not allow');

    script = [act(`navigate("${other.http}/counter")`), act('click(1)'), DONE];
    await send(panel, 'do it again');
    await press(panel, 'Allow once');
    await press(panel, 'Allow');
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('1 clicks');
    await close(panel, page);
  });

  test('opens, lists and closes its own tabs only', async () => {
    const foreign = await extension.open(`${other.http}/?private`);
    const number = await extension.tabOf(foreign);
    const { page, panel } = await run(
      '/',
      `createTab("${site.http}/counter")`,
      'getTabs()',
      `close(${number})`,
      `switch(${number})`,
    );
    await ended(panel, 'Completed');
    const prompt = JSON.stringify(model.requests.slice(-5).map(({ messages }) => messages));
    expect(prompt).toContain('Only tabs that the task has opened can be closed');
    expect(prompt).toContain(`There is no tab ${number}`);
    expect(prompt).not.toContain('private');
    const opened = extension.context.pages().find((one) => one.url().endsWith('/counter'));
    expect(opened).toBeDefined();
    if (opened) await close(opened);
    await close(panel, page, foreign);
  });

  test('runs code only after a confirmation', async () => {
    const { page, panel } = await run('/', 'evaluate("document.title + 1")');
    const ask = panel.getByRole('article', { name: 'Confirm the action' });
    await ask.getByText('It runs code in the page.').waitFor();
    await ask.getByRole('button', { name: 'Allow' }).click();
    await ended(panel, 'Completed');
    expect(lastSeen()).toContain('Contact1');
    await close(panel, page);
  });

  test('searches with the search engine of the browser, after a confirmation', async () => {
    await extension.context.route(/^https:/, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>Results</title><a href="#1">Tea houses</a>' }),
    );
    const { page, panel } = await run('/', 'search("tea")', 'click(1)');
    await panel.getByRole('article', { name: 'Confirm the action' }).waitFor();
    await press(panel, 'Allow');
    await press(panel, 'Allow once');
    await ended(panel, 'Completed');
    expect(page.url()).toMatch(/^https:.*[?&]q=tea/);
    expect(lastSeen()).toContain('Tea houses');
    await extension.context.unroute(/^https:/);
    await close(panel, page);
  });

  test('continues in a tab that the page opens', async () => {
    const { page, panel } = await run('/opener', 'click(1)', 'click(1)');
    await ended(panel, 'Completed');
    const opened = extension.context.pages().find((one) => one.url().endsWith('/counter'));
    expect(await opened?.locator('output').textContent()).toBe('1 clicks');
    if (opened) await close(opened);
    await close(panel, page);
  });

  test('a page cannot open a tab on another site by itself', async () => {
    const { page, panel } = await run('/popup', 'click(1)');
    const ask = panel.getByRole('article', { name: 'Confirm the action' });
    await ask.getByText('https://evil.example/?stolen').waitFor();
    await ask.getByRole('button', { name: 'Deny' }).click();
    await ended(panel, 'Completed');
    expect(extension.context.pages().filter((one) => one.url().includes('evil.example'))).toEqual([]);
    await close(panel, page);
  });

  test('sends a screenshot to the model', async () => {
    const { page, panel } = await run('/shop', 'screenshot()');
    await ended(panel, 'Completed');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('image_url');
    await close(panel, page);
  });

  test('finds icons in cards, and the entries of a menu one by one', async () => {
    const { page, panel } = await run('/inbox', 'click(6)', 'setValue(7, "Ad")', 'click(9)');
    await ended(panel, 'Completed');
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain('[6] button \\"trash\\" near=\\"Grace: Build');
    expect(prompt).toContain('[9] button \\"Adele\\"');
    expect(await page.locator('output').textContent()).toBe('trash Gra; to Adele; ');
    await close(panel, page);
  });

  test('clicks, hovers and drags by offset, and selects text', async () => {
    const { page, panel } = await run(
      '/drawing',
      'hoverAt(1, 5, 6)',
      'clickAt(1, 20, 30)',
      'drag(1, 20, 30, 1, 150, 60)',
      'selectText("served at five")',
    );
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe(
      'mouseenter 5,6; mouseup 20,30; click 20,30; mouseup 150,60; ',
    );
    expect(await page.title()).toBe('served at five');
    expect(lastSeen()).toContain('This browser also executes clickAt');
    await close(panel, page);
  });

  test('sends a picture with the numbers of the elements', async () => {
    const { page, panel } = await run('/shop', 'numberedScreenshot()');
    await ended(panel, 'Completed');
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain('image_url');
    expect(prompt).toMatch(/numbers\W+1,2,3\]/);
    await page.locator('[data-parlance-indicator]').waitFor({ state: 'detached' });
    await close(panel, page);
  });

  test('a page that opens a dialog while it loads does not block the task', async () => {
    const { page, panel } = await run('/', `navigate("${site.http}/alert")`, 'click(1)');
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('clicked');
    await close(panel, page);
  });
});
