/** A conversation in the browser, with a model that the test dictates. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type DictatedModel, dictatedModel } from '../dictated-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, gone, openConsole, seen } from './console.ts';

let model: DictatedModel;
let place: Console;
let page: Page;

/** Opens another session in the same tab. */
const begin = () => page.goto(`${place.server.http}/#/`);

async function send(text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

const answers = () => page.locator('.row > .markdown');
const stopButton = () => page.getByRole('button', { name: 'Stop' });

/** A turn from its input to its end. */
async function turn(text: string, answer: string): Promise<void> {
  await send(text);
  model.say(answer);
  model.end();
  await seen(answers().filter({ hasText: answer }));
  await gone(stopButton());
}

describe.skipIf(NO_BROWSER)('chat', () => {
  beforeAll(async () => {
    model = dictatedModel();
    place = await openConsole(model.settings);
    page = await place.open();
  });
  afterAll(async () => {
    await place?.stop();
    model?.stop();
  });
  afterEach(() => expect(place.problems()).toEqual([]));

  test('the first input creates a session; the answer streams as Markdown with highlighted code', async () => {
    await begin();
    await send('Show me a function');
    await page.waitForURL(/#\/sessions\/.+/);
    await seen(page.locator('.said').getByText('Show me a function'));
    model.say('Here it **is');
    await seen(answers().filter({ hasText: 'Here it' }));
    await seen(stopButton());
    model.say('**:\n\n```ts\nconst half = 1;\n');
    await seen(page.locator('pre.code').filter({ hasText: 'const half = 1;' }));
    model.say('```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n');
    model.end();
    await seen(page.locator('.markdown table td').getByText('2'));
    await gone(stopButton());
    expect(await page.locator('.markdown strong').textContent()).toBe('is');
    await seen(page.locator('pre.code [class*="keyword"]').getByText('const'));
    await seen(page.getByRole('button', { name: 'Copy code' }));
  });

  test('reasoning is collapsed and can be expanded', async () => {
    await begin();
    await send('Think first');
    model.think('A secret thought.');
    await seen(page.getByRole('button', { name: 'Thinking …' }));
    model.say('Out loud.');
    model.end();
    await seen(answers().filter({ hasText: 'Out loud.' }));
    const thought = page.getByRole('button', { name: /^Thought/ });
    await seen(thought);
    expect(await page.getByText('A secret thought.').count()).toBe(0);
    await thought.click();
    await seen(page.getByText('A secret thought.'));
  });

  test('a stopped turn keeps its text, and the next message is answered', async () => {
    await begin();
    await send('Tell me a long story');
    model.say('Once upon a time');
    await seen(answers().filter({ hasText: 'Once upon a time' }));
    await stopButton().click();
    await seen(page.locator('.turn-end').getByText('Stopped'));
    expect(await answers().textContent()).toBe('Once upon a time');
    await turn('A short one', 'The end.');
  });

  test('an edited message replaces the old one and everything after it', async () => {
    await begin();
    await turn('What is two and two?', 'Five.');
    await page.locator('.said').hover();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: 'Edited message' }).fill('What is 2 + 2?');
    await page.locator('.said-edit').getByRole('button', { name: 'Send' }).click();
    model.say('Four.');
    model.end();
    await seen(answers().filter({ hasText: 'Four.' }));
    await gone(page.getByText('Five.'));
    expect(await page.locator('.said').count()).toBe(1);
    expect(await page.locator('.said-bubble').textContent()).toBe('What is 2 + 2?');
    await gone(stopButton());

    await seen(page.getByText('Version 2/2'));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await seen(answers().filter({ hasText: 'Five.' }));
    await gone(answers().filter({ hasText: 'Four.' }));
    expect(await page.locator('.said-bubble').textContent()).toBe('What is two and two?');
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await page.reload();
    await seen(answers().filter({ hasText: 'Four.' }));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await seen(page.getByText('This is an earlier version.'));
    await page.getByRole('button', { name: 'Show latest' }).click();
    await seen(answers().filter({ hasText: 'Four.' }));
    await page.getByRole('button', { name: 'Previous version' }).click();
    await turn('And three and three?', 'Six.');
    await seen(answers().filter({ hasText: 'Four.' }));
  });

  test('an answer can be regenerated', async () => {
    await begin();
    await turn('Send a message', 'Something dull.');
    await page.getByRole('button', { name: 'Regenerate' }).click();
    model.say('Something bright.');
    model.end();
    await seen(answers().filter({ hasText: 'Something bright.' }));
    await gone(page.getByText('Something dull.'));
    expect(await page.locator('.said').count()).toBe(1);
    await page.getByRole('button', { name: 'Previous version' }).click();
    await seen(answers().filter({ hasText: 'Something dull.' }));
    await page.getByRole('button', { name: 'Next version' }).click();
    await seen(answers().filter({ hasText: 'Something bright.' }));
  });

  test('drafts survive a reload, and arrow keys bring earlier messages back', async () => {
    await begin();
    await turn('The first message', 'One.');
    await turn('The second message', 'Two.');
    const field = page.getByRole('textbox', { name: 'Message' });
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('The second message');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('The first message');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await field.inputValue()).toBe('');
    await field.fill('Half a thought');
    await page.reload();
    await seen(answers().filter({ hasText: 'Two.' }));
    expect(await field.inputValue()).toBe('Half a thought');
    await field.fill('');
  });

  test('full-auto is confirmed first', async () => {
    await begin();
    await turn('Hello', 'Hello!');
    const mode = page.getByRole('combobox', { name: 'Approval mode' });
    await mode.selectOption('full-auto');
    const question = page.getByRole('dialog', { name: 'Run everything without asking?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await mode.inputValue()).not.toBe('full-auto');
    await mode.selectOption('full-auto');
    await question.getByRole('button', { name: 'Turn on full-auto' }).click();
    await seen(page.locator('select[data-risky]'));
    expect(await mode.inputValue()).toBe('full-auto');
  });

  test('a message during a turn is shown as queued, and processed afterwards', async () => {
    await begin();
    await send('First');
    model.say('Working on it');
    await seen(answers().filter({ hasText: 'Working on it' }));
    await send('Second');
    await seen(page.locator('.said[data-queued]').getByText('Queued'));
    model.end();
    model.say('And the second.');
    model.end();
    await seen(answers().filter({ hasText: 'And the second.' }));
    await gone(page.locator('.said[data-queued]'));
  });

  test('queued messages can be edited and removed', async () => {
    await begin();
    await send('First');
    model.say('Working on it');
    await seen(answers().filter({ hasText: 'Working on it' }));
    await send('Not this one');
    await send('Secnd');
    const queued = page.locator('.said[data-queued]');
    await seen(queued.nth(1));
    await queued.filter({ hasText: 'Not this' }).getByRole('button', { name: 'Remove from queue' }).click();
    await gone(queued.nth(1));
    await queued.getByRole('button', { name: 'Edit queued message' }).click();
    await page.getByRole('textbox', { name: 'Edited message' }).fill('Second');
    await page.locator('.said-edit').getByRole('button', { name: 'Send' }).click();
    await seen(queued.getByText('Second', { exact: true }));
    expect(await queued.count()).toBe(1);
    model.end();
    model.say('And the second.');
    model.end();
    await seen(answers().filter({ hasText: 'And the second.' }));
    expect(await page.getByText(/Secnd|Not this/).count()).toBe(0);
  });

  test('the model writes the title after the first turn, and never over one of the user', async () => {
    const titled = await startTestServer({ ...model.settings, PARLANCE_TITLES: 'model' });
    try {
      await page.goto(`${titled.http}/#/`);
      await turn('Where shall I spend my holidays?', 'In Rome.');
      model.say('"Holidays in Rome"');
      model.end();
      await seen(page.getByRole('heading', { name: 'Holidays in Rome', exact: true }));
      await seen(page.locator('.session-title').getByText('Holidays in Rome'));
      await turn('And after that?', 'In Naples.');
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Holidays in Rome');
      await page.goto(`${titled.http}/#/`);
      await send('Another one');
      await page.waitForURL(/#\/sessions\/.+/);
      const handle = connect({ url: titled.http }).session(page.url().split('/').at(-1));
      await handle.rename('Mine');
      model.say('Yes.');
      model.end();
      await seen(answers().filter({ hasText: 'Yes.' }));
      await turn('Go on', 'I do.');
      expect((await handle.get()).title).toBe('Mine');
    } finally {
      await begin();
      await titled.stop();
      place.problems();
    }
  });

  test('a call is a card with its input and output', async () => {
    await begin();
    await send('List the files');
    model.call('list_files', { path: '.' });
    const card = page.locator('.call').filter({ hasText: 'list_files' });
    await seen(card.getByText('Done'));
    model.say('That is all.');
    model.end();
    await seen(answers().filter({ hasText: 'That is all.' }));
    await card.getByRole('button', { name: /list_files/ }).click();
    await seen(card.getByRole('heading', { name: 'Input' }));
    await seen(card.getByRole('heading', { name: /^Output/ }));
  });

  test('a slash command sets the approval mode of the session', async () => {
    await begin();
    await turn('Hello', 'Hello yourself.');
    await page.getByRole('textbox', { name: 'Message' }).fill('/approval auto-edit');
    await page.keyboard.press('Enter');
    await seen(page.locator('.toast').getByText('Approval mode: auto-edit.'));
    const id = decodeURIComponent(page.url().split('/sessions/')[1] ?? '');
    const session = (await (await fetch(`${place.server.http}/v1/sessions/${id}`)).json()) as {
      now: { approvalMode: string };
    };
    expect(session.now.approvalMode).toBe('auto-edit');
    await page.getByRole('textbox', { name: 'Message' }).fill('/approval nonsense');
    await page.keyboard.press('Enter');
    await seen(page.locator('.toast').getByText('/approval MODE: suggest, auto-edit, full-auto'));
  });
});
