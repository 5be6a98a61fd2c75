/** `useChat` in a real page, with a model that the test dictates. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { launchBrowser, NO_BROWSER } from '../console/chromium.ts';
import { removed, visible } from '../console/console.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { durableOf, followed } from '../server-process.ts';
import { historyOf, textOf } from './client.ts';
import { type ServedPage, servePage } from './page.ts';

describe.skipIf(NO_BROWSER).each([
  { how: 'through a proxy', proxied: true },
  { how: 'from another origin', proxied: false },
])('a page that calls $how', ({ proxied }) => {
  let model: DictatedModel;
  let server: TestServer;
  let served: ServedPage;
  let browser: Browser;
  let page: Page;
  let problems: string[] = [];
  let count = 0;
  let id: string;

  beforeAll(async () => {
    model = dictatedModel();
    server = await startTestServer(model.settings);
    [served, browser] = await Promise.all([servePage(server, proxied), launchBrowser()]);
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      // A chat that does not exist yet is not found.
      if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    await server?.stop();
    model?.stop();
  });
  afterEach(() => {
    expect(problems).toEqual([]);
    problems = [];
  });

  const open = () => page.goto(`${served.http}/?id=${id}`);
  const begin = () => {
    id = `page-${++count}`;
    return open();
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const answers = () => page.getByRole('article', { name: 'assistant' });
  const answer = (text: string) => answers().getByText(text, { exact: true });

  async function send(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await button('Send').click();
  }

  async function turn(text: string, answered: string): Promise<void> {
    const asked = model.asked();
    await send(text);
    // An earlier request may still be open if its turn was stopped.
    await asked;
    model.say(answered);
    model.end();
    await visible(answer(answered));
    await removed(button('Stop'));
  }

  /** The page shows exactly the stored messages, each once. */
  async function expectStored(...texts: string[]): Promise<void> {
    const articles = page.getByRole('article');
    expect(await articles.locator('p').allTextContents()).toEqual(texts);
    const history = await historyOf(server.http, id);
    expect(history.map(textOf).join('|').split('|').filter(Boolean)).toEqual(texts);
    expect(await articles.count()).toBe(history.length);
  }

  const turnsOf = async () =>
    (await durableOf(server, id)).filter(({ type }) => type === 'turn.started').length;

  test('chats: text is streamed while the model writes it, and a reload shows it again', async () => {
    await begin();
    await send('count');
    model.think('Hm.');
    model.say('One ');
    await visible(answer('One'));
    model.say('two.');
    model.end();
    await visible(answer('One two.'));
    await removed(button('Stop'));
    await turn('and on', 'Three.');
    await expectStored('count', 'One two.', 'and on', 'Three.');
    await open();
    await visible(answer('Three.'));
    await expectStored('count', 'One two.', 'and on', 'Three.');
    expect(await turnsOf()).toBe(2);
  });

  test('reloads during an answer, and resumes it without duplicates', async () => {
    await begin();
    await send('count');
    model.say('One ');
    await visible(answer('One'));
    await open();
    await visible(answer('One'));
    model.say('two ');
    await visible(answer('One two'));
    await open();
    model.say('three.');
    await visible(answer('One two three.'));
    model.end();
    await removed(button('Stop'));
    await expectStored('count', 'One two three.');
    expect(await answers().count()).toBe(1);
    expect(await turnsOf()).toBe(1);
    await turn('next', 'Four.');
    await expectStored('count', 'One two three.', 'next', 'Four.');
  });

  test.each(['Approve', 'Deny'])('answers an approval (%s), even after a reload', async (choice) => {
    await begin();
    await send('touch it');
    model.call('shell', { command: ['touch', `${id}.txt`] });
    await visible(button('Approve'));
    await open();
    await button(choice).click();
    await removed(button('Approve'));
    model.say('So be it.');
    model.end();
    await visible(answer('So be it.'));
    await removed(button('Stop'));
    const outcome = choice === 'Approve' ? 'output-available' : 'output-denied';
    await visible(answers().getByText(`shell: ${outcome}`));
    await expectStored('touch it', 'So be it.');
    expect(await turnsOf()).toBe(1);
  });

  test('stops an answer, and keeps the text so far', async () => {
    await begin();
    await send('count');
    model.say('Half an answer');
    await visible(answer('Half an answer'));
    await button('Stop').click();
    await followed(server, id, (events) => events.some(({ type }) => type === 'turn.cancelled'));
    await removed(button('Stop'));
    await expectStored('count', 'Half an answer');
    await turn('next', 'Whole.');
    await expectStored('count', 'Half an answer', 'next', 'Whole.');
  });

  test('regenerates an answer', async () => {
    await begin();
    await turn('question', 'First.');
    await button('Regenerate').click();
    await removed(answer('First.'));
    model.say('Second.');
    model.end();
    await visible(answer('Second.'));
    await removed(button('Stop'));
    await expectStored('question', 'Second.');
    await open();
    await visible(answer('Second.'));
    await expectStored('question', 'Second.');
  });
});
