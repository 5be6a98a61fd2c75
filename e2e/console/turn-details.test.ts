/** Details around a turn: its plan, what calls are about, the menu of the session, full-auto, and toasts that cover nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { holds, removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

const LONG_PATH = 'src/a/rather/long/path/to/some/folder';

let chat: DictatedChat;
let page: Page;

/** The colour of the approval mode. */
const colour = (): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('[aria-label^="Approval mode"]')).color`);

/** The computed value of a colour of the theme. */
const themeColour = (name: string): Promise<string> =>
  page.evaluate(`(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(${name})';
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  })()`);

/** Resolves when the summary of the first call has room for some words. */
const summaryShown = (): Promise<void> =>
  holds(
    page,
    `(({ width = 0, height = 0 }) => width > 150 && height > 12)(
      document.querySelector('.call-summary')?.getBoundingClientRect() ?? {})`,
  );

describe.skipIf(NO_BROWSER)('details of a turn', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    page = chat.page;
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('the plan is folded when the turn is over', async () => {
    await page.setViewportSize({ width: chat.app.screen.viewport.width, height: 900 });
    await chat.begin();
    await chat.send('Make a plan');
    const steps = [
      { step: 'Look around', status: 'completed' },
      { step: 'Write it down', status: 'in_progress' },
    ];
    chat.model.call('update_plan', { steps });
    const plan = page.locator('.plan > button');
    await visible(plan.filter({ hasText: 'Plan: 1 of 2 done' }));
    await visible(page.locator('.plan .steps').getByText('Write it down'));
    expect(await plan.getAttribute('aria-expanded')).toBe('true');
    chat.model.say('Enough for today.');
    chat.model.end();
    await removed(page.locator('.plan .steps'));
    expect(await plan.getAttribute('aria-expanded')).toBe('false');
    await visible(plan.getByText('Write it down'));
    await page.setViewportSize(chat.app.screen.viewport);
  });

  test('retries of the model are one line with the text of the model API', async () => {
    await chat.begin();
    await chat.send('Try hard');
    const lines = page.locator('.divider');
    const { host } = new URL(chat.model.settings.OPENAI_BASE_URL ?? '');
    for (const attempt of [2, 3]) {
      chat.model.fail('The engine is cold');
      await visible(lines.getByText(`attempt ${attempt}.`));
      expect(await lines.allTextContents()).toEqual([
        `${host} answered with error 503: The engine is cold. Trying again, attempt ${attempt}.`,
      ]);
    }
    chat.model.say('Now it runs.');
    chat.model.end();
    await visible(chat.answer('Now it runs.'));
    expect(await lines.count()).toBe(1);
  });

  test('a turn that reaches the limit of steps is continued by a button', async () => {
    const limited = await DictatedChat.open({ MAX_ITERATIONS: '1' });
    try {
      await limited.begin();
      await limited.send('Make a plan');
      limited.model.call('update_plan', { steps: [{ step: 'Look around', status: 'completed' }] });
      await visible(limited.answer('Paused after 1 step, the limit of one turn (maxSteps, MAX_ITERATIONS).'));
      const goOn = limited.page.getByRole('button', { name: 'Continue' });
      await visible(goOn);
      for (const name of ['Try again', 'Regenerate'])
        expect(await limited.page.getByRole('button', { name }).count()).toBe(0);
      await goOn.click();
      limited.model.say('All done.');
      limited.model.end();
      await visible(limited.answer('All done.'));
      await removed(goOn);
      await removed(limited.stopButton);
      const listed = await (await fetch(`${limited.app.server.http}/v1/sessions`)).json();
      expect(listed).toMatchObject({ sessions: [{ status: 'idle' }] });
    } finally {
      await limited.stop();
    }
  });

  test('a call says what it is about at every width', async () => {
    await Bun.write(join(chat.app.server.root, LONG_PATH, 'file.txt'), 'content');
    await chat.begin();
    await chat.send('Look');
    chat.model.call('list_files', { path: LONG_PATH });
    chat.model.say('Done looking.');
    chat.model.end();
    await visible(chat.answer('Done looking.'));
    const summary = page.locator('.call-summary').first();
    for (const width of [320, 480, 640, 768, 1_024, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      // The list is measured again after the size has changed.
      await summaryShown();
      expect(await summary.textContent()).toBe(LONG_PATH);
      expect([width, await layoutProblems(page)]).toEqual([width, []]);
    }
    await page.setViewportSize(chat.app.screen.viewport);
  });

  test('the menu of the session is in its page, and stays open while an answer grows', async () => {
    await chat.begin();
    await chat.send('Tell me everything');
    chat.model.say('It begins.');
    await visible(chat.answer('It begins.'));
    await page.getByRole('button', { name: 'Session actions' }).click();
    await visible(page.getByRole('menuitem', { name: 'Share' }));
    chat.model.say('\n\nAnother paragraph.'.repeat(60));
    await visible(page.getByText('Another paragraph.').last());
    await holds(page, "document.querySelector('.transcript').scrollTop > 0");
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Renamed in its page');
    await page.getByRole('button', { name: 'Rename' }).click();
    await visible(page.getByRole('heading', { level: 1, name: 'Renamed in its page' }));
    chat.model.end();
    await removed(chat.stopButton);
  });

  test('a message that is sent is in view, and an approval out of view is shown before keys answer it', async () => {
    await chat.begin();
    await chat.send('Tell me a lot');
    chat.model.say(`${'A paragraph.\n\n'.repeat(60)}The end.`);
    chat.model.end();
    await visible(page.locator('.turn-end'));
    // The list follows its end until the rows are measured.
    const scrollUp = (button: string) =>
      until(async () => {
        await page.evaluate("document.querySelector('.transcript').scrollTop = 0");
        return page.getByRole('button', { name: button }).isVisible();
      });
    // So many rows that the last ones are not in the document.
    for (const number of [1, 2, 3, 4, 5]) await chat.turn(`Question ${number}`, `Answer ${number}.`);
    await scrollUp('Jump to latest');
    await chat.send('Now touch a file');
    await removed(page.getByRole('button', { name: 'Jump to latest' }));
    const isBelow = (selector: string): Promise<boolean> =>
      page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().top >=
        document.querySelector('.transcript').getBoundingClientRect().bottom`);
    await until(async () => !(await isBelow('.row:last-child')));

    chat.model.call('shell', { command: ['touch', 'unseen.txt'] });
    const card = page.locator('.approval[data-state=pending]');
    await visible(card);
    await scrollUp('Needs approval');
    await removed(card);
    await chat.field.press('y');
    await visible(card);
    // A little out of view, where it is still in the document.
    await until(async () => {
      if (!(await isBelow('.approval')))
        await page.evaluate("document.querySelector('.transcript').scrollTop -= 400");
      // The list scrolls to a row for some frames.
      await page.evaluate(
        '(async () => { for (let n = 4; n--; ) await new Promise(requestAnimationFrame); })()',
      );
      return isBelow('.approval');
    });
    await chat.field.press('y');
    await removed(page.getByRole('button', { name: 'Needs approval' }));
    expect([await card.count(), await chat.field.inputValue()]).toEqual([1, '']);
    await chat.field.press('y');
    await removed(card);
    chat.model.say('Touched.');
    chat.model.end();
    await visible(chat.answer('Touched.'));
    await removed(chat.stopButton);
  });

  test('full-auto is confirmed, also as a command, and has a warning colour', async () => {
    await chat.begin();
    await chat.turn('Hello', 'Hello again.');
    const full = page.getByRole('button', { name: 'Approval mode: Full access' });
    const calm = await colour();
    const question = page.getByRole('dialog', { name: 'Run everything without asking?' });
    await chat.send('/approval full-auto');
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await full.count()).toBe(0);
    expect(await colour()).toBe(calm);
    await chat.send('/approval full-auto');
    await question.getByRole('button', { name: 'Turn on full access' }).click();
    await visible(full);
    const warning = await themeColour('--bad');
    expect(warning).not.toBe(calm);
    expect(await colour()).toBe(warning);
    await full.hover();
    expect(await colour()).toBe(warning);
  });

  test('toasts make room for themselves, and are shown once', async () => {
    await chat.begin();
    await chat.turn('Hello', 'Hello once more.');
    const toasts = page.locator('.toast');
    const commands = {
      '/model one': 'Model: one.',
      '/model two': 'Model: two.',
      '/agent nobody': /^\/agent NAME: /,
    };
    for (const [text, toast] of Object.entries(commands)) {
      await chat.send(text);
      await visible(toasts.getByText(toast));
      if (text === '/model two') await chat.send(text);
    }
    expect(await toasts.getByText('Model: two.').count()).toBe(1);
    expect(await layoutProblems(page)).toEqual([]);
    const foot = await page.locator('.chat-foot').boundingBox();
    const first = await toasts.first().boundingBox();
    expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeLessThanOrEqual((first?.y ?? 0) + 1);
    await toasts.last().getByRole('button', { name: 'Dismiss' }).click();
    await removed(toasts.getByText(/^\/agent NAME: /));
  });
});
