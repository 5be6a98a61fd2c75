/**
 * The connection breaks during an answer, and one session is open in two tabs: the text is complete, without
 * repetitions.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';
import { type CuttingProxy, cuttingProxy } from './cutting-proxy.ts';

let model: DictatedModel;
let app: Console;
let line: CuttingProxy;

const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const answers = (page: Page) => page.locator('.row > .markdown');
const stopButton = (page: Page) => page.getByRole('button', { name: 'Stop' });
const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `w${from + index} `).join('');

/** Browsers log every dropped connection: these are expected. */
const broken = /ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET|NETWORK)/;

describe.skipIf(NO_BROWSER)('connections', () => {
  beforeAll(async () => {
    model = dictatedModel();
    app = await openConsole(model.settings);
    line = await cuttingProxy(app.server.http);
  });
  afterAll(async () => {
    await app?.stop();
    await line?.stop();
    model?.stop();
  });
  afterEach(() => expect(app.problems().filter((problem) => !broken.test(problem))).toEqual([]));

  test('after a cut in the middle of a stream the text is complete and not repeated', async () => {
    const page = await app.open('/', { at: line.http });
    await message(page).fill('Count the words');
    await page.keyboard.press('Enter');
    await visible(page.locator('.said').getByText('Count the words'));
    model.say(words(0, 50));
    await visible(answers(page).filter({ hasText: 'w49' }));

    for (const round of [1, 2]) {
      expect(line.cut()).toBeGreaterThan(0);
      // The agent continues while disconnected.
      model.say(words(round * 50, round * 50 + 25));
      await visible(page.getByText(/^(Not connected|Offline|Reconnecting|Connecting again)/).first());
      line.restore();
      await visible(answers(page).filter({ hasText: `w${round * 50 + 24}` }));
      model.say(words(round * 50 + 25, round * 50 + 50));
      await visible(answers(page).filter({ hasText: `w${round * 50 + 49}` }));
    }
    model.end();
    await removed(stopButton(page));
    expect((await answers(page).textContent())?.trim()).toBe(words(0, 150).trim());
    expect(await page.locator('.said').count()).toBe(1);
    await page.context().close();
  });

  test('a turn that ended while disconnected is shown after the reconnect', async () => {
    const page = await app.open('/', { at: line.http });
    await message(page).fill('Say it');
    await page.keyboard.press('Enter');
    model.say('Half ');
    await visible(answers(page).filter({ hasText: 'Half' }));
    line.cut();
    model.say('and whole.');
    model.end();
    line.restore();
    await removed(stopButton(page));
    expect(await answers(page).textContent()).toBe('Half and whole.');
    await page.context().close();
  });

  test('two tabs on one session: both show the answer, all inputs, and the stop', async () => {
    const one = await app.open();
    await message(one).fill('Said in the first tab');
    await one.keyboard.press('Enter');
    await one.waitForURL(/#\/sessions\/.+/);
    const other = await app.openBeside(one, new URL(one.url()).hash.slice(1));
    await visible(other.locator('.said').getByText('Said in the first tab'));
    model.say('Heard in both');
    await Promise.all(
      [one, other].map((page) => visible(answers(page).filter({ hasText: 'Heard in both' }))),
    );
    await message(other).fill('Said in the second tab');
    await other.keyboard.press('Enter');
    await visible(one.locator('.said[data-queued]').getByText('Said in the second tab'));
    await one.bringToFront();
    const asked = model.asked();
    await stopButton(one).click();
    await visible(other.locator('.turn-end').getByText('Stopped'));
    await asked;
    model.say('Answered in both.');
    model.end();
    await Promise.all(
      [one, other].map((page) => visible(answers(page).filter({ hasText: 'Answered in both.' }))),
    );
    expect(await one.locator('.said').count()).toBe(2);
    await one.context().close();
  });

  test('more tabs than the browser has connections: hidden tabs close theirs, and catch up later', async () => {
    const first = await app.open();
    await message(first).fill('Said at the beginning');
    await first.keyboard.press('Enter');
    await first.waitForURL(/#\/sessions\/.+/);
    const path = new URL(first.url()).hash.slice(1);
    let page = first;
    for (let tab = 2; tab <= 8; tab++) {
      await page.evaluate(HIDE);
      page = await app.openBeside(page, path);
      await visible(page.locator('.said').getByText('Said at the beginning'));
    }
    model.say('Said while nobody looked');
    model.end();
    await visible(answers(page).filter({ hasText: 'Said while nobody looked' }));
    expect(await answers(first).count()).toBe(0);
    await page.evaluate(HIDE);
    await first.evaluate(SHOW);
    await visible(answers(first).filter({ hasText: 'Said while nobody looked' }));
    await removed(stopButton(first));
    await first.context().close();
  });
});

/** Headless tabs are always visible, so the page's visibility is overridden. */
const setVisibility = (state: string) =>
  `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
   document.dispatchEvent(new Event('visibilitychange'))`;
const [HIDE, SHOW] = [setVisibility('hidden'), setVisibility('visible')];
