/** Sub-agents in the console: below their session in the list, and as lines of its conversation. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Step, scriptedConversations, spawn } from '../conversations.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, closeSidebar, openConsole, openSidebar, removed, visible } from './console.ts';
import { layoutProblems } from './layout.ts';

let app: Console;
let model: ScriptedModel;
let begin = Promise.withResolvers<void>();
let finish = Promise.withResolvers<void>();

const slow: Step = async () => {
  await finish.promise;
  return { say: 'The dependencies are current.' };
};

const looks: Step = async () => {
  await begin.promise;
  return { call: 'list_files', input: { path: '.' } };
};

const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  'Prepare the release': [
    {
      calls: [
        spawn('notes', 'Write the release notes'),
        spawn('tests', 'Run all the tests'),
        spawn('updates', 'Look for newer dependencies'),
      ],
    },
    { say: 'Everything is ready.' },
  ],
  'Write the release notes': [
    { call: 'list_files', input: { path: '.' } },
    { say: '**Release notes:** nothing has changed.' },
    { say: 'Now it is shorter.' },
  ],
  'Run all the tests': [
    { call: 'shell', input: { command: ['touch', 'tested'] } },
    { say: 'All tests pass.' },
  ],
  'Look for newer dependencies': [looks, slow],
};

describe.skipIf(NO_BROWSER)('sub-agents', () => {
  beforeAll(async () => {
    model = scriptedConversations(SCRIPTS);
    app = await openConsole(model.settings);
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  async function start(how: Parameters<Console['open']>[1] = {}): Promise<Page> {
    begin = Promise.withResolvers<void>();
    finish = Promise.withResolvers<void>();
    const page = await app.open('/', how);
    await page.getByRole('textbox', { name: /message/i }).fill('Prepare the release');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('button', { name: /notes.*Release notes.*Done/ }));
    await visible(page.getByRole('article', { name: 'Approval for agent' }));
    // What it does is shown to those who are there.
    begin.resolve();
    await visible(page.getByRole('button', { name: /updates.*list_files.*\d+ tokens.*Running/ }));
    return page;
  }

  const tree = (page: Page) => page.getByRole('list', { name: 'Sub-agents' }).first();

  test('are lines of the conversation and a tree in the list; what one asks is answered there', async () => {
    const page = await start();
    await visible(page.getByText('Coder › tests', { exact: false }).first());
    await openSidebar(page);
    await visible(tree(page).getByRole('link', { name: /tests.*Waiting for input/ }));
    await visible(tree(page).getByRole('link', { name: /updates.*Running/ }));
    await until(async () => (await tree(page).getByRole('listitem').count()) === 3);
    if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.asks.png` });
    await closeSidebar(page);
    await page.getByRole('button', { name: /^Allow once/ }).click();
    await visible(page.getByRole('button', { name: /tests.*All tests pass\..*Done/ }));
    finish.resolve();
    await visible(page.locator('.markdown').getByText('Everything is ready.', { exact: true }));
    await visible(
      page.getByRole('button', { name: /updates.*The dependencies are current\..*\d+ tokens.*Done/ }),
    );
    // Lists of other readers leave them out, also while they start.
    await page.reload();
    await openSidebar(page);
    await visible(tree(page).getByRole('link', { name: /notes/ }));
    expect(await page.locator('.session-list > div > div > section > ul > li > .session-row').count()).toBe(
      1,
    );
  });

  test('are expanded in place, opened, and continued in their own session', async () => {
    const page = await start();
    await page.getByRole('button', { name: /notes.*Done/ }).click();
    const inside = page.getByRole('region', { name: 'Sub-agent notes' });
    await visible(inside.getByText('Write the release notes', { exact: true }));
    await visible(inside.getByText('nothing has changed.'));
    await page.getByRole('button', { name: /^updates/ }).click();
    await visible(page.getByRole('region', { name: 'Sub-agent updates' }));
    if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.expanded.png` });
    await inside.getByRole('link', { name: 'Coder › notes' }).click();
    await visible(page.getByRole('navigation', { name: 'Sub-agent' }).getByText('› notes'));
    await openSidebar(page);
    expect(await tree(page).getByRole('link', { name: /notes/ }).getAttribute('aria-current')).toBe('page');
    await closeSidebar(page);
    await page.getByRole('textbox', { name: /message/i }).fill('Make it shorter');
    await page.keyboard.press('Enter');
    await visible(page.locator('.markdown').getByText('Now it is shorter.', { exact: true }));
    if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.child.png` });
    await page.getByRole('navigation', { name: 'Sub-agent' }).getByRole('link', { name: 'Coder' }).click();
    const stop = page.getByRole('button', { name: /^Stop/ });
    await stop.click();
    await visible(page.getByRole('button', { name: /updates.*Stopped/ }));
    await removed(page.getByRole('article', { name: 'Approval for agent' }));
    await openSidebar(page);
    await removed(tree(page).getByText('Running'));
    await removed(tree(page).getByText('Waiting for input'));
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`fit every width and are accessible (${colorScheme})`, async () => {
      const page = await start({ colorScheme });
      await page.getByRole('button', { name: /notes.*Done/ }).click();
      await visible(page.getByRole('region', { name: 'Sub-agent notes' }));
      for (const width of [320, 768, 1_440]) {
        await page.setViewportSize({ width, height: 900 });
        // The button that leads to the end covers what is below it.
        await page.evaluate("document.querySelector('.transcript').scrollTop = 1e6");
        await removed(page.locator('.to-end'));
        expect(await layoutProblems(page)).toEqual([]);
        if (process.env.SCREENSHOT)
          await page.screenshot({ path: `${process.env.SCREENSHOT}.${colorScheme}-${width}.png` });
      }
      await openSidebar(page);
      await visible(tree(page));
      await prepare(page);
      expect(await accessibilityProblems(page, 'all')).toEqual([]);
      finish.resolve();
    });
});
