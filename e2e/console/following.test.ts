/** The transcript follows what grows while the reader is at the end, and leads back to it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { holds, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';

const CALLS = 24;
/** Pixels below the view. The transcript ends with some empty space. */
const BELOW = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
  document.querySelector('.transcript'))`;

let chat: DictatedChat;
let page: Page;

const below = (): Promise<number> => page.evaluate(BELOW);
const jump = (): Locator => page.getByRole('button', { name: 'Jump to latest' });

/** As a reader does, with the wheel. */
async function scrollUp(pixels: number): Promise<void> {
  await page.locator('.transcript').hover();
  const before = await below();
  await page.mouse.wheel(0, -pixels);
  await until(async () => (await below()) > before);
}

describe.skipIf(NO_BROWSER)('the end of the transcript', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    page = chat.page;
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('is followed through many calls to the answer', async () => {
    await chat.begin();
    await chat.send('Look at everything');
    for (let call = 1; call <= CALLS; call++) {
      chat.model.call('list_files', { path: '.' });
      await visible(page.locator('.call').last());
      await holds(page, `${BELOW} <= 1`);
    }
    chat.model.say('Everything was looked at.');
    chat.model.end();
    await visible(page.locator('.turn-end'));
    await holds(page, `${BELOW} <= 1`);
    await removed(jump());
  });

  test('is not followed by a reader who has scrolled up, and can be reached at once', async () => {
    await chat.begin();
    await chat.send('Tell me a lot');
    chat.model.say('A paragraph.\n\n'.repeat(60));
    await visible(page.getByText('A paragraph.').last());
    await holds(page, `document.querySelector('.transcript').scrollTop > 0 && ${BELOW} <= 1`);
    await scrollUp(100);
    const top = await page.evaluate("document.querySelector('.transcript').scrollTop");
    await visible(jump());
    chat.model.say('Another paragraph.\n\n'.repeat(60));
    await visible(page.getByText('Another paragraph.').first());
    await holds(page, `${BELOW} > 1000`);
    expect(await page.evaluate("document.querySelector('.transcript').scrollTop")).toBe(top);

    await jump().click();
    await holds(page, `${BELOW} <= 1`);
    await removed(jump());
    chat.model.say('More of it.\n\n'.repeat(60));
    await visible(page.getByText('More of it.').last());
    await holds(page, `${BELOW} <= 1`);
    chat.model.end();
    await removed(chat.stopButton);
    await holds(page, `${BELOW} <= 1`);
    await removed(jump());
  });

  test('is offered if content has grown out of view without any scrolling', async () => {
    await chat.begin();
    await chat.send('Begin');
    chat.model.say('A paragraph.\n\n'.repeat(60));
    await visible(page.getByText('A paragraph.').last());
    await holds(page, `document.querySelector('.transcript').scrollTop > 0 && ${BELOW} <= 1`);
    // Still in view, but the reader has moved.
    await scrollUp(12);
    await removed(jump());
    chat.model.say('Another paragraph.\n\n'.repeat(60));
    await visible(jump());
    await jump().click();
    await holds(page, `${BELOW} <= 1`);
    chat.model.end();
    await removed(chat.stopButton);
  });

  test('is followed after a jump, although the reader has just scrolled and rows change their heights', async () => {
    await chat.begin();
    await chat.send('Begin');
    chat.model.say('A paragraph.\n\n'.repeat(60));
    await visible(page.getByText('A paragraph.').last());
    await holds(page, `document.querySelector('.transcript').scrollTop > 0 && ${BELOW} <= 1`);
    await scrollUp(100);
    await visible(jump());
    await jump().click();
    await page.evaluate(`(() => {
      const transcript = document.querySelector('.transcript');
      const size = document.querySelector('.transcript-size');
      document.querySelector('.transcript-rows').style.display = 'none';
      size.style.height = size.offsetHeight - 200 + 'px';
      void transcript.scrollTop;
      size.style.height = size.offsetHeight + 300 + 'px';
      document.querySelector('.transcript-rows').style.display = '';
    })()`);
    await holds(page, `${BELOW} <= 1`);
    chat.model.say('Another paragraph.\n\n'.repeat(60));
    await visible(page.getByText('Another paragraph.').last());
    await holds(page, `${BELOW} <= 1`);
    chat.model.end();
    await removed(chat.stopButton);
  });
});
