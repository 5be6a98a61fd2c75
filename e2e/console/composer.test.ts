/** The message field: drafts, earlier messages, the queue, commands, and where the focus is. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { DictatedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { pickOption, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

let chat: DictatedChat;
let model: DictatedModel;
let page: Page;

describe.skipIf(NO_BROWSER)('composer', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    ({ model, page } = chat);
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('the field keeps the focus, whatever is sent, stopped, edited or regenerated', async () => {
    const focused = page.locator('textarea[aria-label="Message"]:focus');
    await chat.begin();
    await visible(focused);
    await chat.turn('First', 'One.');
    await visible(focused);
    await chat.send('Second');
    model.say('Half an answer');
    await visible(chat.answer('Half an answer'));
    await visible(focused);
    await chat.stopButton.click();
    await removed(chat.stopButton);
    await visible(focused);
    const asked = model.asked();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await asked;
    model.say('A whole answer.');
    model.end();
    await visible(chat.answer('A whole answer.'));
    await visible(focused);
    await page.getByRole('button', { name: 'Edit', exact: true }).last().click();
    await visible(page.locator('textarea[aria-label="Edited message"]:focus'));
    await page.keyboard.press('Escape');
    await visible(focused);
    await page.keyboard.press('Escape');
    await removed(focused);
  });

  test('the placeholder is not cut off', async () => {
    await chat.begin();
    expect(await page.evaluate(PLACEHOLDER_ROOM)).toBeGreaterThan(0);
    await chat.send('Go on');
    model.say('I do');
    await visible(chat.answer('I do'));
    await removed(chat.field.and(page.getByPlaceholder(/commands/)));
    expect(await page.evaluate(PLACEHOLDER_ROOM)).toBeGreaterThan(0);
    model.end();
    await removed(chat.stopButton);
  });

  test('on a phone, all buttons fit while a turn runs', async () => {
    await chat.begin();
    await chat.send('Go on');
    model.say('I go on');
    await visible(chat.answer('I go on'));
    await chat.field.fill('One more thing');
    await page.setViewportSize({ width: 320, height: 640 });
    await page.locator('.sidebar').waitFor({ state: 'hidden' });
    await visible(page.getByRole('button', { name: 'Queue' }));
    expect(await layoutProblems(page)).toEqual([]);
    const tops = await page
      .locator('.composer-buttons button')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom)));
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(8);
    await page.setViewportSize(chat.app.screen.viewport);
    await chat.field.fill('');
    model.end();
    await removed(chat.stopButton);
  });

  test('a message is edited from its end, in a field that shows all of it', async () => {
    await chat.begin();
    const lines = ['one', 'two', 'three', 'four', 'five'].join('\n');
    await chat.turn(lines, 'Five.');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const edited = page.getByRole('textbox', { name: 'Edited message' });
    await visible(edited);
    await page.keyboard.type('!');
    expect(await edited.inputValue()).toBe(`${lines}!`);
    expect(await edited.evaluate((area) => area.scrollHeight - area.clientHeight)).toBe(0);
    await page.keyboard.press('Escape');
  });

  test('drafts survive a reload, and arrow keys bring earlier messages back', async () => {
    await chat.begin();
    await chat.turn('The first message', 'One.');
    await chat.turn('The second message', 'Two.');
    const field = chat.field;
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('The second message');
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('The first message');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await field.inputValue()).toBe('');
    await field.fill('Half a thought');
    await page.reload();
    await visible(chat.answer('Two.'));
    expect(await field.inputValue()).toBe('Half a thought');
    // Each session has its own.
    const address = page.url();
    await chat.begin();
    await visible(page.getByRole('heading', { name: 'What can I do for you?' }));
    expect(await field.inputValue()).toBe('');
    await page.goto(address);
    await visible(chat.answer('Two.'));
    expect(await field.inputValue()).toBe('Half a thought');
    await field.fill('');
  });

  test('what is typed while a message is sent stays, and messages keep their order', async () => {
    // One route for the whole test: a request that is held while its route is removed would never be answered.
    let gate = Promise.withResolvers<void>();
    let isDown = false;
    await page.route('**/commands', async (route) => {
      await gate.promise;
      await (isDown ? route.abort() : route.continue());
    });
    await chat.begin();
    await chat.send('First');
    await chat.field.fill('Sec');
    gate.resolve();
    await page.waitForURL(/#\/sessions\/.+/);
    expect(await chat.field.inputValue()).toBe('Sec');
    model.say('Working on it');
    await visible(chat.answer('Working on it'));

    gate = Promise.withResolvers<void>();
    await chat.send('Second');
    const sent = page.locator('.said', { hasText: 'Second' });
    await visible(sent.getByText('Sending …'));
    await chat.send('Third');
    await chat.field.fill('Fourth');
    gate.resolve();
    const queued = page.locator('.said[data-queued] .said-bubble');
    await visible(queued.nth(1));
    expect(await queued.allInnerTexts()).toEqual(['Second', 'Third']);
    expect(await chat.field.inputValue()).toBe('Fourth');
    await removed(page.getByText('Sending …'));
    expect(await sent.count()).toBe(1);
    for (const answer of ['', 'Two.', 'Three.']) {
      model.say(answer);
      model.end();
    }
    await visible(chat.answer('Three.'));
    await removed(chat.stopButton);

    isDown = true;
    await page.keyboard.press('Enter');
    await visible(page.locator('.toast'));
    expect(await chat.field.inputValue()).toBe('Fourth');
    expect(await page.locator('.said', { hasText: 'Fourth' }).count()).toBe(0);
    await page.unroute('**/commands');
    await chat.field.fill('');
    chat.app.problems(); // the browser reports the aborted request
  });

  test('full-auto is confirmed first', async () => {
    await chat.begin();
    await chat.turn('Hello', 'Hello!');
    const full = page.getByRole('button', { name: 'Approval mode: Full access' });
    await pickOption(page, 'Approval mode', 'Full access');
    const question = page.getByRole('dialog', { name: 'Run everything without asking?' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await full.count()).toBe(0);
    await pickOption(page, 'Approval mode', 'Full access');
    await question.getByRole('button', { name: 'Turn on full access' }).click();
    await visible(full);
    await visible(page.locator('.picker[data-risky]'));
  });

  test('a message during a turn is shown as queued, and processed afterwards', async () => {
    await chat.begin();
    await chat.send('First');
    model.say('Working on it');
    await visible(chat.answer('Working on it'));
    await chat.send('Second');
    await visible(page.locator('.said[data-queued]').getByText('Queued'));
    model.end();
    model.say('And the second.');
    model.end();
    await visible(chat.answer('And the second.'));
    await removed(page.locator('.said[data-queued]'));
  });

  test('Alt+Enter and the button steer: the message joins the turn at its next step', async () => {
    await chat.begin();
    await chat.send('Plan it');
    model.say('I will plan it.');
    await visible(chat.answer('I will plan it.'));
    await chat.field.fill('Use three steps');
    await page.keyboard.press('Alt+Enter');
    await visible(
      page.locator('.said[data-queued]', { hasText: 'Use three steps' }).getByText('Joins the turn'),
    );
    await chat.field.fill('And be brief');
    await page.getByRole('button', { name: 'Steer' }).click();
    await visible(
      page.locator('.said[data-queued]', { hasText: 'And be brief' }).getByText('Joins the turn'),
    );
    model.call('update_plan', { steps: [{ step: 'One', status: 'pending' }] });
    await removed(page.locator('.said[data-queued]').first());
    const joined = page.locator('.said', { hasText: 'Joined the turn' });
    await visible(joined.nth(1));
    expect(await joined.locator('.said-bubble').allInnerTexts()).toEqual(['Use three steps', 'And be brief']);
    expect(await joined.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    model.say('Three steps.');
    model.end();
    await visible(chat.answer('Three steps.'));
    await removed(chat.stopButton);
    await page.reload();
    await visible(joined.nth(1));
  });

  test('stopping says that the next queued message starts', async () => {
    await chat.begin();
    await chat.send('One');
    model.say('It begins.');
    await visible(chat.answer('It begins.'));
    expect(await chat.stopButton.getAttribute('title')).toBeNull();
    await chat.send('Two');
    await visible(page.locator('.said[data-queued]').getByText('Two'));
    expect(await chat.stopButton.getAttribute('title')).toBe(
      'Stops this turn. The next queued message starts then.',
    );
    const asked = model.asked();
    await chat.stopButton.click();
    await visible(page.locator('.toast').getByText('Stopped. The next queued message has started.'));
    await asked;
    model.say('The second one.');
    model.end();
    await visible(chat.answer('The second one.'));
    await removed(chat.stopButton);
  });

  test('queued messages can be edited and removed', async () => {
    await chat.begin();
    await chat.send('First');
    model.say('Working on it');
    await visible(chat.answer('Working on it'));
    await chat.send('Not this one');
    await chat.send('Secnd');
    const queued = page.locator('.said[data-queued]');
    await visible(queued.nth(1));
    await queued.filter({ hasText: 'Not this' }).getByRole('button', { name: 'Remove from queue' }).click();
    await removed(queued.nth(1));
    await queued.getByRole('button', { name: 'Edit queued message' }).click();
    await page.getByRole('textbox', { name: 'Edited message' }).fill('Second');
    await page.locator('.said-edit').getByRole('button', { name: 'Send' }).click();
    await visible(queued.getByText('Second', { exact: true }));
    expect(await queued.count()).toBe(1);
    model.end();
    model.say('And the second.');
    model.end();
    await visible(chat.answer('And the second.'));
    expect(await page.getByText(/Secnd|Not this/).count()).toBe(0);
  });

  test('what is typed while a command runs stays', async () => {
    await chat.begin();
    await chat.turn('Hello', 'Hello.');
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    await page.route('**/commands', async (route) => {
      await opened;
      await route.continue();
    });
    await chat.send('/model another');
    await chat.field.fill('Meanwhile');
    open();
    await visible(page.locator('.toast').getByText('Model: another.'));
    expect(await chat.field.inputValue()).toBe('Meanwhile');
    await page.unroute('**/commands');
    await chat.field.fill('');
  });

  test('a slash command sets the approval mode of the session', async () => {
    await chat.begin();
    await chat.turn('Hello', 'Hello yourself.');
    await chat.field.fill('/approval auto-edit');
    await page.keyboard.press('Enter');
    await visible(page.locator('.toast').getByText('Approval mode: Edit freely.'));
    const id = decodeURIComponent(page.url().split('/sessions/')[1] ?? '');
    const session = (await (await fetch(`${chat.app.server.http}/v1/sessions/${id}`)).json()) as {
      now: { approvalMode: string };
    };
    expect(session.now.approvalMode).toBe('auto-edit');
    await chat.field.fill('/approval nonsense');
    await page.keyboard.press('Enter');
    await visible(page.locator('.toast').getByText('/approval MODE: suggest, auto-edit, full-auto'));
  });
});

/** How many pixels of the field are right of its placeholder. */
const PLACEHOLDER_ROOM = `(() => {
  const field = document.querySelector('textarea[aria-label="Message"]');
  const { font, paddingLeft, paddingRight } = getComputedStyle(field);
  const context = document.createElement('canvas').getContext('2d');
  context.font = font;
  const text = context.measureText(field.placeholder).width;
  return field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - text;
})()`;
