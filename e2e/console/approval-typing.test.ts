/** A person types while an approval is pending: a message is never taken as an answer, and a key that stands alone is one. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { pauseClock, removed, submitInput, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';

let chat: DictatedChat;
let page: Page;
let files = 0;

const card = (): Locator => page.locator('.approval[data-state="pending"]');
const chosen = (): Locator => card().getByRole('status').filter({ hasText: 'is chosen' });
const exists = (file: string): boolean => existsSync(join(chat.app.server.root, file));

/** Asks for a command. Returns the file that it would write. */
async function ask(): Promise<string> {
  await chat.begin();
  const asked = chat.model.asked();
  await chat.send('Touch a file');
  // The request of the turn before, which was stopped, may still be open.
  await asked;
  await visible(chat.stopButton);
  return `typed-${files++}.txt`;
}

const call = (file: string): void => chat.model.call('shell', { command: ['touch', file] });

/** Presses the keys with this time between them for the page, whose timers are stopped. */
async function type(text: string, ms: number): Promise<void> {
  for (const key of text) {
    await page.keyboard.type(key);
    await page.clock.runFor(ms);
  }
}

/** Presses the keys without a pause that a slow machine could make longer. */
async function burst(text: string): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const sent = [...text].flatMap((key) => [
    client.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key }),
    client.send('Input.dispatchKeyEvent', { type: 'keyUp', key }),
  ]);
  await Promise.all(sent);
  await client.detach();
}

/** Stops the timers of the page meanwhile, so that a slow machine does not answer with the first key. */
async function withoutHurry(run: () => Promise<unknown>): Promise<void> {
  await pauseClock(page);
  await run();
  await page.clock.resume();
}

async function expectMessage(text: string, file: string): Promise<void> {
  expect(await chat.field.inputValue()).toBe(text);
  await visible(card());
  // A lone key answers later than everything that could still happen to what was typed before.
  await chat.field.fill('');
  await page.keyboard.press('e');
  await visible(chosen());
  await removed(chosen());
  expect([await card().count(), exists(file), await card().locator('form').count()]).toEqual([1, false, 0]);
  chat.model.say('It creates a file.');
  chat.model.end();
  await visible(card().locator('.approval-explained').getByText('It creates a file.'));
  await chat.stopButton.click();
  await removed(card());
}

describe.skipIf(NO_BROWSER)('typing while an approval is pending', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    page = chat.page;
    await page.clock.install();
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test.each([
    ['you should use ls instead', 50],
    ['and also the hidden files', 120],
    ['no, use ls', 300],
    ['every file', 300],
    ['Yes, but', 200],
  ])('“%s” with %d ms a key, begun after the card has arrived, is a message', async (text, ms) => {
    const file = await ask();
    call(file);
    await visible(card());
    await withoutHurry(() => type(text, ms));
    await expectMessage(text, file);
  });

  test.each([50, 300])('begun before or while it arrives, with %d ms a key, it is a message', async (ms) => {
    const before = await ask();
    await page.keyboard.press('y');
    call(before);
    await visible(card());
    await withoutHurry(() => type('ou any', ms));
    expect(await chosen().count()).toBe(0);
    await expectMessage('you any', before);

    const meanwhile = await ask();
    await withoutHurry(async () => {
      await type('yay', ms);
      call(meanwhile);
      // The page shows it with a timer.
      await until(async () => {
        await page.clock.runFor(ms);
        return card().isVisible();
      });
      await type(' any', ms);
    });
    await expectMessage('yay any', meanwhile);
  });

  test('keys that arrive while the page is busy are a message', async () => {
    const file = await ask();
    call(file);
    await visible(card());
    // The page sees the second key after the time of the first has passed.
    await page.evaluate(`window.busy = new Promise((resolve) => addEventListener('keyup', () => {
      for (const end = performance.now() + 3000; performance.now() < end; );
      resolve();
    }, { once: true })); undefined`);
    await burst('you');
    await page.evaluate('window.busy');
    await expectMessage('you', file);
  });

  test('a lone key is shown as chosen: Escape takes it back, Enter confirms it, and so does a pause', async () => {
    const file = await ask();
    call(file);
    await visible(card());
    const reason = card().getByLabel('Reason (optional, shared with the agent)');
    await withoutHurry(async () => {
      await page.keyboard.press('y');
      await visible(card().locator('[data-held]', { hasText: 'Allow once' }));
      expect(await chosen().textContent()).toBe(
        '“Allow once” is chosen: Enter confirms it now, Escape takes it back.',
      );
      await page.keyboard.press('Escape');
      await removed(chosen());
      expect(await chat.field.inputValue()).toBe('');
      await visible(page.locator('textarea:focus'));
      await page.keyboard.press('n');
      await page.keyboard.press('Enter');
      await visible(reason);
    });
    await page.keyboard.press('Escape');
    await removed(reason);
    await visible(page.locator('textarea:focus'));
    expect([await card().count(), exists(file), await chat.field.inputValue()]).toEqual([1, false, '']);

    await page.keyboard.press('y');
    await removed(card());
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    expect(await chat.field.inputValue()).toBe('');
    chat.model.end();
    await removed(chat.stopButton);
    expect(exists(file)).toBe(true);
  });

  test('a deleted, pasted or extended key is no answer, and a click takes it back', async () => {
    const file = await ask();
    call(file);
    await visible(card());
    await withoutHurry(async () => {
      await page.keyboard.press('y');
      await visible(chosen());
      await page.keyboard.press('Backspace');
      await removed(chosen());
      await page.keyboard.press('y');
      await page.keyboard.insertText('ou there');
      await removed(chosen());
      await page.keyboard.press('Shift+Enter');
      expect(await chat.field.inputValue()).toBe('you there\n');
      await chat.field.fill('');
      await page.keyboard.press('y');
      await visible(chosen());
      await card().getByRole('button', { name: 'Deny' }).click();
      await visible(card().locator('form'));
    });
    expect(await chat.field.inputValue()).toBe('');
    await page.keyboard.press('Enter');
    await removed(card());
    chat.model.end();
    await removed(chat.stopButton);
    expect(exists(file)).toBe(false);
  });

  test('outside of the field, a word goes into the field, and a lone key answers', async () => {
    const file = await ask();
    call(file);
    await visible(card());
    await chat.field.fill('Wait: ');
    await page.locator('.transcript').focus();
    await withoutHurry(() => burst('no, why'));
    expect(await chat.field.inputValue()).toBe('Wait: no, why');
    await page.locator('.transcript').focus();
    // The end of a word whose beginning is no key.
    await burst('my');
    expect(await chosen().count()).toBe(0);
    await chat.field.focus();
    await page.keyboard.press('Escape');
    await visible(page.locator('.approval:focus'));
    await page.keyboard.press('y');
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    chat.model.end();
    await removed(chat.stopButton);
    expect(exists(file)).toBe(true);
  });

  test('the card of the next call does not get the focus', async () => {
    const file = await ask();
    chat.model.call('shell', { command: ['touch', `first-${file}`] });
    await visible(card());
    await card().getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('y');
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    call(file);
    await visible(card());
    await visible(page.locator('textarea:focus'));
    await withoutHurry(() => burst('yes'));
    expect(await chat.field.inputValue()).toBe('yes');
    await chat.stopButton.click();
    await removed(card());
    expect([exists(`first-${file}`), exists(file)]).toEqual([true, false]);
  });

  test('in the inbox, which has no field, a word is no answer', async () => {
    const asked = chat.model.asked();
    await submitInput(chat.app.server, 'inbox', 'touch');
    await asked;
    chat.model.call('shell', { command: ['touch', 'inbox.txt'] });
    await page.goto(`${chat.app.server.http}/#/approvals`);
    await visible(card());
    await withoutHurry(() => burst('you are, why'));
    expect([await chosen().count(), await card().count()]).toEqual([0, 1]);
    await card().getByRole('button', { name: 'Deny' }).click();
    await page.keyboard.press('Enter');
    await removed(card());
    chat.model.end();
    expect(exists('inbox.txt')).toBe(false);
  });
});
