/** A conversation in the browser, with a model that the test dictates. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import type { DictatedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { closeSidebar, openSidebar, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';

let chat: DictatedChat;
let model: DictatedModel;
let page: Page;

describe.skipIf(NO_BROWSER)('chat', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    ({ model, page } = chat);
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('the first input creates a session; the answer streams as Markdown with highlighted code', async () => {
    await chat.begin();
    await chat.send('Show me a function');
    await page.waitForURL(/#\/sessions\/.+/);
    await visible(page.locator('.said').getByText('Show me a function'));
    model.say('Here it **is');
    await visible(chat.answer('Here it'));
    await visible(chat.stopButton);
    model.say('**:\n\n```ts\nconst half = 1;\n');
    await visible(page.locator('pre.code').filter({ hasText: 'const half = 1;' }));
    model.say('```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n');
    model.end();
    await visible(page.locator('.markdown table td').getByText('2'));
    await removed(chat.stopButton);
    expect(await page.locator('.markdown strong').textContent()).toBe('is');
    await visible(page.locator('pre.code [class*="keyword"]').getByText('const'));
    await visible(page.getByRole('button', { name: 'Copy code' }));
  });

  test('reasoning is collapsed and can be expanded', async () => {
    await chat.begin();
    await chat.send('Think first');
    model.think('A secret thought.');
    await visible(page.getByRole('button', { name: 'Thinking …' }));
    model.say('Out loud.');
    model.end();
    await visible(chat.answer('Out loud.'));
    const thought = page.getByRole('button', { name: /^Thought/ });
    await visible(thought);
    expect(await page.getByText('A secret thought.').count()).toBe(0);
    await thought.click();
    await visible(page.getByText('A secret thought.'));
  });

  test('a stopped turn keeps its text, and the next message is answered', async () => {
    await chat.begin();
    await chat.send('Tell me a long story');
    model.say('Once upon a time');
    await visible(chat.answer('Once upon a time'));
    await chat.stopButton.click();
    await visible(page.locator('.turn-end').getByText('Stopped'));
    expect(await chat.answers.textContent()).toBe('Once upon a time');
    await chat.turn('A short one', 'The end.');
  });

  test('an edited message replaces the old one and everything after it', async () => {
    await chat.begin();
    await chat.turn('What is two and two?', 'Five.');
    await page.locator('.said').hover();
    await page.getByRole('button', { name: 'Edit' }).click();
    await visible(page.getByText('What follows now stays as an earlier version.'));
    await page.getByRole('textbox', { name: 'Edited message' }).fill('What is 2 + 2?');
    await page.locator('.said-edit').getByRole('button', { name: 'Send' }).click();
    model.say('Four.');
    model.end();
    await visible(chat.answer('Four.'));
    await removed(page.getByText('Five.'));
    expect(await page.locator('.said').count()).toBe(1);
    expect(await page.locator('.said-bubble').textContent()).toBe('What is 2 + 2?');
    await removed(chat.stopButton);

    await visible(page.locator('.said').getByText('Version 2/2'));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await visible(chat.answer('Five.'));
    await removed(chat.answer('Four.'));
    expect(await page.locator('.said-bubble').textContent()).toBe('What is two and two?');
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await page.reload();
    await visible(chat.answer('Four.'));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await visible(page.getByText('This is an earlier version.'));
    await page.getByRole('button', { name: 'Show latest' }).click();
    await visible(chat.answer('Four.'));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await chat.turn('And three and three?', 'Six.');
    await visible(chat.answer('Four.'));
  });

  test('an answer can be regenerated', async () => {
    await chat.begin();
    await chat.turn('Send a message', 'Something dull.');
    await page.getByRole('button', { name: 'Regenerate' }).click();
    model.say('Something bright.');
    model.end();
    await visible(chat.answer('Something bright.'));
    await removed(page.getByText('Something dull.'));
    expect(await page.locator('.said').count()).toBe(1);
    // The message is the same: the versions are those of its answer.
    const end = page.locator('.turn-end');
    await visible(end.getByText('Version 2/2'));
    expect(await page.locator('.said .versions').count()).toBe(0);
    await page.getByRole('button', { name: 'Previous version' }).click();
    await visible(chat.answer('Something dull.'));
    await visible(end.getByText('Version 1/2'));
    // The buttons are still there for the keyboard.
    await page.getByRole('button', { name: 'Next version' }).focus();
    await page.keyboard.press('Enter');
    await visible(chat.answer('Something bright.'));
  });

  test('the model writes the title after the first turn, and never over one of the user', async () => {
    const titled = await startTestServer({ ...model.settings, PARLANCE_TITLES: 'model' });
    try {
      await chat.begin(titled.http);
      await chat.turn('Where shall I spend my holidays?', 'In Rome.');
      model.say('"Holidays in Rome"');
      model.end();
      await visible(page.getByRole('heading', { name: 'Holidays in Rome', exact: true }));
      await openSidebar(page);
      await visible(page.locator('.session-title').getByText('Holidays in Rome'));
      await closeSidebar(page);
      await chat.turn('And after that?', 'In Naples.');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Holidays in Rome');
      await chat.begin(titled.http);
      await chat.send('Another one');
      await page.waitForURL(/#\/sessions\/.+/);
      const handle = connect({ url: titled.http }).session(page.url().split('/').at(-1));
      await handle.rename('Mine');
      model.say('Yes.');
      model.end();
      await visible(chat.answer('Yes.'));
      await chat.turn('Go on', 'I do.');
      expect((await handle.get()).title).toBe('Mine');
    } finally {
      await chat.begin();
      await titled.stop();
      chat.app.problems();
    }
  });

  test('a call is a card with its input and output', async () => {
    await chat.begin();
    await chat.send('List the files');
    model.call('list_files', { path: '.' });
    const card = page.locator('.call').filter({ hasText: 'list_files' });
    await visible(card.getByText('Done'));
    model.say('That is all.');
    model.end();
    await visible(chat.answer('That is all.'));
    await card.getByRole('button', { name: /list_files/ }).click();
    await visible(card.getByRole('heading', { name: 'Input' }));
    await visible(card.getByRole('heading', { name: /^Output/ }));
  });
});
