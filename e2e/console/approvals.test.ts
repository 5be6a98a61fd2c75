/** Approvals are shown in the console, and answered there or elsewhere. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page, Request } from 'playwright-core';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { getJson } from '../server-process.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, pickOption, removed, submitInput, titled, visible } from './console.ts';

const fileOf = (name: string): string => join(app.server.root, name);
const cardOf = (page: Page, words: string): Locator => page.locator('.approval').filter({ hasText: words });

/** What a browser extension can do that an agent drives. */
const SCRIPTED = `(async () => {
  const how = { bubbles: true, cancelable: true };
  const find = (selector) => document.querySelector(selector);
  const key = (target, name) => {
    for (const type of ['keydown', 'keypress', 'keyup'])
      target.dispatchEvent(new KeyboardEvent(type, { ...how, key: name, code: name }));
  };
  const write = (field, text) => {
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, text);
    field.dispatchEvent(new InputEvent('input', how));
  };
  const rendered = () => new Promise((resolve) => setTimeout(resolve, 100));
  for (const button of document.querySelectorAll('.approval button')) {
    button.click();
    for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
      button.dispatchEvent(new MouseEvent(type, how));
    button.focus();
    key(button, 'Enter');
    key(button, ' ');
    await rendered();
  }
  for (const letter of ['y', 'a', 'n']) {
    find('.approval').focus();
    key(find('.approval'), letter);
    key(document.body, letter);
    key(document.body, 'Enter');
    await rendered();
  }
  find('[aria-label^="Approval mode"]').click();
  await rendered();
  for (const option of document.querySelectorAll('[role=menuitemradio]')) option.click();
  const field = find('textarea');
  write(field, '/approval auto-edit');
  await rendered();
  key(field, 'Enter');
  // The browser marks the submit event of this one as trusted.
  field.form.requestSubmit();
  await rendered();
  write(field, '');
})()`;

let app: Console;
let page: Page;

/** In the same tab, like a link. */
const goTo = (path: string) => page.goto(`${app.server.http}/#${path}`);

describe.skipIf(NO_BROWSER)('approvals', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open();
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('the exact command and the scope of always are shown; once runs it', async () => {
    const watching = await app.server.connect('/broadcast?session=once');
    await submitInput(app.server, 'once', 'run touch "a file.txt"');
    await goTo('/approvals');
    const card = cardOf(page, 'a file.txt');
    await visible(card);
    expect(await card.locator('.approval-command code').textContent()).toBe("touch 'a file.txt'");
    expect(await card.textContent()).toContain('Always allow: commands like touch run without asking');
    await titled(page, '(1) Approvals · Parlance');
    expect(existsSync(fileOf('a file.txt'))).toBe(false);

    const { approvals } = await getJson<{ approvals: { id: string; hash: string }[] }>(
      `${app.server.http}/v1/approvals`,
    );
    const [request] = await Promise.all([
      page.waitForRequest(/\/v1\/approvals\/./),
      card.getByRole('button', { name: 'Allow once' }).click(),
    ]);
    expect(request.url()).toEndWith(`/v1/approvals/${approvals[0]?.id}`);
    expect(request.postDataJSON()).toEqual({ answer: 'once', hash: approvals[0]?.hash });
    await visible(card.getByText('Allowed once by you.'));
    await titled(page, 'Approvals · Parlance');
    await removed(card);
    await visible(page.getByText('No approvals waiting'));
    await watching.next('agent_message');
    expect(existsSync(fileOf('a file.txt'))).toBe(true);
  });

  test('keys answer the first card: e explains, n asks for the reason of a denial, which the agent receives', async () => {
    const watching = await app.server.connect('/broadcast?session=denied');
    await submitInput(app.server, 'denied', 'run touch denied.txt');
    await goTo('/approvals');
    const card = cardOf(page, 'denied.txt');
    await visible(card.getByRole('button', { name: 'Deny' }));
    await page.keyboard.press('e');
    await visible(card.locator('.approval-explained').filter({ hasText: 'touch' }));

    await page.keyboard.press('n');
    await visible(card.getByLabel('Reason (optional, shared with the agent)'));
    // Letters in a text field are no shortcuts.
    await page.keyboard.type('nay, ye');
    await page.keyboard.press('Enter');
    await visible(card.getByText('Denied by you: “nay, ye”'));
    await watching.next('agent_message');
    const { events } = await getJson<{ events: DurableEvent[] }>(
      `${app.server.http}/v1/sessions/denied/events?limit=100`,
    );
    const ended = events.find((event) => event.type === 'tool.ended');
    expect(ended?.parts).toEqual([{ type: 'text', text: 'The user denied this call: nay, ye' }]);
    expect(existsSync(fileOf('denied.txt'))).toBe(false);
  });

  test('events of scripts answer nothing and change no setting; those of a person do', async () => {
    await submitInput(app.server, 'scripted', 'run touch scripted.txt');
    await goTo('/sessions/scripted');
    const card = cardOf(page, 'scripted.txt');
    await visible(card);
    let sent: string[] = [];
    const note = (request: Request) => request.method() !== 'GET' && sent.push(request.url());
    page.on('request', note);
    await page.evaluate(SCRIPTED);
    await visible(page.getByText('The console accepts only clicks and keys of a person.'));
    expect(sent).toEqual([]);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await card.getByLabel('Reason').count()).toBe(0);
    expect(existsSync(fileOf('scripted.txt'))).toBe(false);

    sent = [];
    await Promise.all([page.waitForRequest(/\/commands$/), pickOption(page, 'Approval mode', 'Edit freely')]);
    await card.getByRole('button', { name: 'Allow once' }).focus();
    await page.keyboard.press('Enter');
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    await until(() => existsSync(fileOf('scripted.txt')));
    page.off('request', note);
  });

  test('always is a standing grant: the next such call runs without approval', async () => {
    await submitInput(app.server, 'always', 'run mkdir one');
    await goTo('/approvals');
    await visible(cardOf(page, 'mkdir').getByRole('button', { name: 'Always' }));
    await page.keyboard.press('a');
    const question = page.getByRole('dialog', { name: 'Always allow this?' });
    await visible(question.getByText('commands like mkdir run without asking'));
    await page.keyboard.press('Escape');
    await removed(question);
    await cardOf(page, 'mkdir').getByRole('button', { name: 'Always' }).click();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await visible(page.getByText('Always allowed by you.'));
    const watching = await app.server.connect('/broadcast?session=always');
    await submitInput(app.server, 'always', 'run mkdir two');
    await watching.next(({ type, message }) => type === 'agent_message' && /two/.test(String(message)));
    expect(existsSync(fileOf('two'))).toBe(true);
  });

  test('an answer from another client shows who answered over which dialect, in the inbox and in the chat', async () => {
    await submitInput(app.server, 'elsewhere', 'run touch elsewhere.txt');
    await goTo('/approvals');
    const chat = await app.openBeside(page, '/sessions/elsewhere');
    await Promise.all([visible(cardOf(page, 'elsewhere.txt')), visible(cardOf(chat, 'elsewhere.txt'))]);

    const client = await app.server.connect('/agentloop?session=elsewhere');
    await client.next('approval_request');
    client.send({
      id: 'answer',
      type: 'approval_response',
      payload: { review: 'no-continue', customDenyMessage: 'not now' },
    });
    const words = 'Denied by local via agentloop: “not now”';
    await Promise.all([visible(page.getByText(words)), visible(chat.getByText(words))]);
    await removed(cardOf(page, 'elsewhere.txt'));
    await chat.close();
  });

  test('a patch is shown side by side, or stacked on a narrow screen', async () => {
    await Bun.write(fileOf('notes.txt'), 'one\ntwo\nthree\n');
    await submitInput(app.server, 'patch', 'replace two with zwei in notes.txt');
    await goTo('/approvals');
    const card = cardOf(page, 'notes.txt');
    const [before, after] = [
      card.locator('.patch-cell.patch-removed'),
      card.locator('.patch-cell.patch-added'),
    ];
    await visible(before.filter({ hasText: 'two' }));
    await visible(after.filter({ hasText: 'zwei' }));
    await page.setViewportSize({ width: 1_440, height: 900 });
    const boxes = async () => [await before.boundingBox(), await after.boundingBox()] as const;
    const [left, right] = await boxes();
    expect(right?.x).toBeGreaterThan(left?.x ?? 0);
    expect(right?.y).toBe(left?.y);

    await page.setViewportSize({ width: 320, height: 640 });
    const [upper, lower] = await boxes();
    expect(lower?.x).toBe(upper?.x);
    expect(lower?.y).toBeGreaterThan(upper?.y ?? 0);
    await page.setViewportSize(app.screen.viewport);
    await card.getByRole('button', { name: 'Allow once' }).click();
    await visible(card.getByText('Allowed once by you.'));
  });

  test('a patch that overwrites an existing file is marked as such', async () => {
    await Bun.write(fileOf('taken.txt'), 'old\n');
    await submitInput(app.server, 'replaces', 'create file taken.txt with new');
    await goTo('/approvals');
    const card = cardOf(page, 'taken.txt');
    await visible(
      card.getByRole('region', { name: 'Replaced taken.txt' }).getByText('overwrites an existing file'),
    );
    await card.getByRole('button', { name: 'Allow once' }).click();
    await visible(card.getByText('Allowed once by you.'));
  });

  test('keys apply to the focused card, if there is one', async () => {
    await submitInput(app.server, 'first', 'run touch first.txt');
    await submitInput(app.server, 'second', 'run touch second.txt');
    await goTo('/approvals');
    const [first, second] = [cardOf(page, 'first.txt'), cardOf(page, 'second.txt')];
    await Promise.all([visible(first), visible(second)]);
    await second.getByRole('button', { name: 'Explain' }).focus();
    await page.keyboard.press('y');
    await visible(second.getByText('Allowed once by you.'));
    expect(await first.getAttribute('data-state')).toBe('pending');
  });

  test('in the chat a lone key answers while the message is empty; the command is shown once', async () => {
    await submitInput(app.server, 'chat-keys', 'run touch typed.txt');
    await goTo('/sessions/chat-keys');
    const field = page.getByRole('textbox', { name: 'Message' });
    const card = cardOf(page, 'typed.txt');
    await visible(card);
    expect(await page.locator('.call').count()).toBe(0);
    await field.fill('yes, but ');
    await page.keyboard.type('any');
    expect(await field.inputValue()).toBe('yes, but any');
    expect(await card.getAttribute('data-state')).toBe('pending');
    await field.fill('');
    await page.keyboard.press('Escape');
    await visible(page.locator('.approval:focus'));
    await field.focus();
    await page.keyboard.press('y');
    await visible(page.locator('.call').getByText('Allowed once by you.'));
    await removed(card);
    await visible(page.locator('.call').getByText('Done', { exact: true }));
    expect(await field.inputValue()).toBe('');
    await visible(page.locator('textarea:focus'));
    expect(existsSync(fileOf('typed.txt'))).toBe(true);
  });

  test('in the chat e explains, n denies with a reason and a always allows; the focus returns to the message', async () => {
    await submitInput(app.server, 'chat-answers', 'run touch refused.txt');
    await goTo('/sessions/chat-answers');
    const field = page.getByRole('textbox', { name: 'Message' });
    const card = cardOf(page, 'refused.txt');
    await visible(card);
    await field.focus();
    await page.keyboard.press('e');
    await visible(card.locator('.approval-explained').filter({ hasText: 'touch' }));
    await page.keyboard.press('n');
    const reason = card.getByLabel('Reason (optional, shared with the agent)');
    await visible(reason);
    await page.keyboard.press('Escape');
    await removed(reason);
    await visible(page.locator('textarea:focus'));
    await page.keyboard.press('n');
    await visible(reason);
    await page.keyboard.type('an example');
    await page.keyboard.press('Enter');
    await visible(page.locator('.call').getByText('Denied by you: “an example”'));
    await visible(page.locator('textarea:focus'));

    await submitInput(app.server, 'chat-answers', 'run mkdir -v permitted');
    await visible(cardOf(page, 'permitted'));
    // The transcript scrolls to the card in the next frame. A key only shows what is out of view.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    await page.keyboard.press('a');
    await page.getByRole('dialog').getByRole('button', { name: 'Always allow' }).click();
    await visible(page.locator('.call').getByText('Always allowed by you.'));
    expect(await field.inputValue()).toBe('');
  });

  test('a call is one card: its command once, then its output', async () => {
    await submitInput(app.server, 'one-card', 'run mkdir -v shown-once');
    await goTo('/sessions/one-card');
    await visible(cardOf(page, 'shown-once'));
    const card = page.locator('.row:has(.approval, .call)');
    const commands = async () => (await card.innerText()).split('mkdir -v shown-once').length - 1;
    expect(await commands()).toBe(1);
    await page.keyboard.press('y');
    const call = page.locator('.call');
    await visible(call.locator('.output').getByText("created directory 'shown-once'"));
    expect(await page.locator('.approval').count()).toBe(0);
    expect(await commands()).toBe(1);
    await call.getByRole('button', { name: /shell/ }).click();
    await removed(call.locator('.output'));
    expect(await commands()).toBe(1);
  });
});
