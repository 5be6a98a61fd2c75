/** Approvals are shown in the console, and answered there or elsewhere. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { DurableEvent } from '../../packages/protocol/src/index.ts';
import { getJson } from '../server-process.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, gone, openConsole, say, seen, titled } from './console.ts';

const fileOf = (name: string): string => join(place.server.root, name);
const cardOf = (page: Page, words: string): Locator => page.locator('.approval').filter({ hasText: words });

let place: Console;
let page: Page;

/** In the same tab, like a link. */
const goTo = (path: string) => page.goto(`${place.server.http}/#${path}`);

describe.skipIf(NO_BROWSER)('approvals', () => {
  beforeAll(async () => {
    place = await openConsole();
    page = await place.open();
  });
  afterAll(() => place?.stop());
  afterEach(() => expect(place.problems()).toEqual([]));

  test('the exact command and the scope of always are shown; once runs it', async () => {
    const watching = await place.server.connect('/broadcast?session=once');
    await say(place.server, 'once', 'run touch "a file.txt"');
    await goTo('/approvals');
    const card = cardOf(page, 'a file.txt');
    await seen(card);
    expect(await card.locator('.approval-command code').textContent()).toBe("touch 'a file.txt'");
    expect(await card.textContent()).toContain('Always allow: commands like touch run without asking');
    await titled(page, '(1) Approvals · Parlance');
    expect(existsSync(fileOf('a file.txt'))).toBe(false);

    const { approvals } = await getJson<{ approvals: { id: string; hash: string }[] }>(
      `${place.server.http}/v1/approvals`,
    );
    const [request] = await Promise.all([
      page.waitForRequest(/\/v1\/approvals\/./),
      card.getByRole('button', { name: 'Allow once' }).click(),
    ]);
    expect(request.url()).toEndWith(`/v1/approvals/${approvals[0]?.id}`);
    expect(request.postDataJSON()).toEqual({ answer: 'once', hash: approvals[0]?.hash });
    await seen(card.getByText('Allowed once by you.'));
    await titled(page, 'Approvals · Parlance');
    await gone(card);
    await seen(page.getByText('No approvals waiting'));
    await watching.next('agent_message');
    expect(existsSync(fileOf('a file.txt'))).toBe(true);
  });

  test('keys answer the first card: e explains, n asks for the reason of a denial, which the agent receives', async () => {
    const watching = await place.server.connect('/broadcast?session=denied');
    await say(place.server, 'denied', 'run touch denied.txt');
    await goTo('/approvals');
    const card = cardOf(page, 'denied.txt');
    await seen(card.getByRole('button', { name: 'Deny' }));
    await page.keyboard.press('e');
    await seen(card.locator('.approval-explained').filter({ hasText: 'touch' }));

    await page.keyboard.press('n');
    await seen(card.getByLabel('Reason (optional, shared with the agent)'));
    // Letters in a text field are no shortcuts.
    await page.keyboard.type('nay, ye');
    await page.keyboard.press('Enter');
    await seen(card.getByText('Denied by you: “nay, ye”'));
    await watching.next('agent_message');
    const { events } = await getJson<{ events: DurableEvent[] }>(
      `${place.server.http}/v1/sessions/denied/events?limit=100`,
    );
    const ended = events.find((event) => event.type === 'tool.ended');
    expect(ended?.parts).toEqual([{ type: 'text', text: 'The user denied this call: nay, ye' }]);
    expect(existsSync(fileOf('denied.txt'))).toBe(false);
  });

  test('always is a standing grant: the next such call runs without approval', async () => {
    await say(place.server, 'always', 'run mkdir one');
    await goTo('/approvals');
    await seen(cardOf(page, 'mkdir').getByRole('button', { name: 'Always' }));
    await page.keyboard.press('a');
    await seen(page.getByText('Always allowed by you.'));
    const watching = await place.server.connect('/broadcast?session=always');
    await say(place.server, 'always', 'run mkdir two');
    await watching.next(({ type, message }) => type === 'agent_message' && /two/.test(String(message)));
    expect(existsSync(fileOf('two'))).toBe(true);
  });

  test('an answer from another client shows who answered over which dialect, in the inbox and in the chat', async () => {
    await say(place.server, 'elsewhere', 'run touch elsewhere.txt');
    await goTo('/approvals');
    const chat = await place.openBeside(page, '/sessions/elsewhere');
    await Promise.all([seen(cardOf(page, 'elsewhere.txt')), seen(cardOf(chat, 'elsewhere.txt'))]);

    const client = await place.server.connect('/agentloop?session=elsewhere');
    await client.next('approval_request');
    client.send({
      id: 'answer',
      type: 'approval_response',
      payload: { review: 'no-continue', customDenyMessage: 'not now' },
    });
    const words = 'Denied by local via agentloop: “not now”';
    await Promise.all([seen(page.getByText(words)), seen(chat.getByText(words))]);
    await gone(cardOf(page, 'elsewhere.txt'));
    await chat.close();
  });

  test('a patch is shown side by side, or stacked on a narrow screen', async () => {
    await Bun.write(fileOf('notes.txt'), 'one\ntwo\nthree\n');
    await say(place.server, 'patch', 'replace two with zwei in notes.txt');
    await goTo('/approvals');
    const card = cardOf(page, 'notes.txt');
    const [before, after] = [
      card.locator('.patch-cell.patch-removed'),
      card.locator('.patch-cell.patch-added'),
    ];
    await seen(before.filter({ hasText: 'two' }));
    await seen(after.filter({ hasText: 'zwei' }));
    await page.setViewportSize({ width: 1_440, height: 900 });
    const boxes = async () => [await before.boundingBox(), await after.boundingBox()] as const;
    const [left, right] = await boxes();
    expect(right?.x).toBeGreaterThan(left?.x ?? 0);
    expect(right?.y).toBe(left?.y);

    await page.setViewportSize({ width: 320, height: 640 });
    const [upper, lower] = await boxes();
    expect(lower?.x).toBe(upper?.x);
    expect(lower?.y).toBeGreaterThan(upper?.y ?? 0);
    await page.setViewportSize(place.screen.viewport);
    await card.getByRole('button', { name: 'Allow once' }).click();
    await seen(card.getByText('Allowed once by you.'));
  });

  test('a patch that overwrites an existing file is marked as such', async () => {
    await Bun.write(fileOf('taken.txt'), 'old\n');
    await say(place.server, 'replaces', 'create file taken.txt with new');
    await goTo('/approvals');
    const card = cardOf(page, 'taken.txt');
    await seen(
      card.getByRole('region', { name: 'Replaced taken.txt' }).getByText('overwrites an existing file'),
    );
    await card.getByRole('button', { name: 'Allow once' }).click();
    await seen(card.getByText('Allowed once by you.'));
  });

  test('keys apply to the focused card, if there is one', async () => {
    await say(place.server, 'first', 'run touch first.txt');
    await say(place.server, 'second', 'run touch second.txt');
    await goTo('/approvals');
    const [first, second] = [cardOf(page, 'first.txt'), cardOf(page, 'second.txt')];
    await Promise.all([seen(first), seen(second)]);
    await second.getByRole('button', { name: 'Explain' }).focus();
    await page.keyboard.press('y');
    await seen(second.getByText('Allowed once by you.'));
    expect(await first.getAttribute('data-state')).toBe('pending');
  });

  test('in the chat keys answer while the message is empty; the command is shown once', async () => {
    await say(place.server, 'chat-keys', 'run touch typed.txt');
    await goTo('/sessions/chat-keys');
    const field = page.getByRole('textbox', { name: 'Message' });
    const card = cardOf(page, 'typed.txt');
    await seen(card);
    expect(await page.locator('.call').count()).toBe(0);
    await field.fill('yes, but ');
    await page.keyboard.type('any');
    expect(await field.inputValue()).toBe('yes, but any');
    expect(await card.getAttribute('data-state')).toBe('pending');
    await field.fill('');
    await page.keyboard.press('Escape');
    await seen(page.locator('.approval:focus'));
    await field.focus();
    await page.keyboard.press('y');
    await seen(page.locator('.call').getByText('Allowed once by you.'));
    await gone(card);
    await seen(page.locator('.call').getByText('Done', { exact: true }));
    expect(await field.inputValue()).toBe('');
    await seen(page.locator('textarea:focus'));
    expect(existsSync(fileOf('typed.txt'))).toBe(true);
  });

  test('in the chat e explains, n denies with a reason and a always allows; the focus returns to the message', async () => {
    await say(place.server, 'chat-answers', 'run touch refused.txt');
    await goTo('/sessions/chat-answers');
    const field = page.getByRole('textbox', { name: 'Message' });
    const card = cardOf(page, 'refused.txt');
    await seen(card);
    await field.focus();
    await page.keyboard.press('e');
    await seen(card.locator('.approval-explained').filter({ hasText: 'touch' }));
    await page.keyboard.press('n');
    const reason = card.getByLabel('Reason (optional, shared with the agent)');
    await seen(reason);
    await page.keyboard.press('Escape');
    await gone(reason);
    await seen(page.locator('.approval:focus'));
    await page.keyboard.press('n');
    await seen(reason);
    await page.keyboard.type('an example');
    await page.keyboard.press('Enter');
    await seen(page.locator('.call').getByText('Denied by you: “an example”'));
    await seen(page.locator('textarea:focus'));

    await say(place.server, 'chat-answers', 'run mkdir -v permitted');
    await seen(cardOf(page, 'permitted'));
    await page.keyboard.press('a');
    await seen(page.locator('.call').getByText('Always allowed by you.'));
    expect(await field.inputValue()).toBe('');
  });

  test('a call is one card: its command once, then its output', async () => {
    await say(place.server, 'one-card', 'run mkdir -v shown-once');
    await goTo('/sessions/one-card');
    await seen(cardOf(page, 'shown-once'));
    const card = page.locator('.row:has(.approval, .call)');
    const commands = async () => (await card.innerText()).split('mkdir -v shown-once').length - 1;
    expect(await commands()).toBe(1);
    await page.keyboard.press('y');
    const call = page.locator('.call');
    await seen(call.locator('.output').getByText("created directory 'shown-once'"));
    expect(await page.locator('.approval').count()).toBe(0);
    expect(await commands()).toBe(1);
    await call.getByRole('button', { name: /shell/ }).click();
    await gone(call.locator('.output'));
    expect(await commands()).toBe(1);
  });
});
