/** Usage and spend limits in the console. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import {
  type Console,
  chooseOption,
  openConsole,
  openSidebar,
  removed,
  validationMessageOf,
  visible,
} from './console.ts';
import { addUsage } from './pages.ts';

let app: Console;
let model: ScriptedModel;
let page: Page;

describe.skipIf(NO_BROWSER)('usage and limits', () => {
  beforeAll(async () => {
    model = scriptedModel(() => ({ say: 'Done.' }));
    app = await openConsole({ ...model.settings });
    const parlance = connect({ url: app.server.http });
    await parlance.auth.login('ada', 'ada-password');
    await parlance.admin.setPrice('fake', { input: 100, output: 1_000 });
    page = await app.open();
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  const go = (path: string) => page.goto(`${app.server.http}/#${path}`);

  test('a session has a limit of its own, which asks before the next step and goes on with more', async () => {
    const field = page.getByRole('textbox', { name: 'Message' });
    const send = async (text: string) => {
      await field.fill(text);
      await page.keyboard.press('Enter');
    };
    await send('Hello');
    await visible(page.locator('.turn-end').first());
    await page.getByRole('button', { name: 'Set limit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Limit of this session' });
    // 100 tokens of input and 5 of output.
    await visible(dialog.getByText('105 tokens, $0.015'));
    await dialog.getByLabel('US dollars').fill('0.01');
    await page.keyboard.press('Enter');
    await visible(page.getByRole('button', { name: '$0.015 of $0.01' }));
    await send('And now?');
    const question = page.getByRole('article', { name: 'Question: Limit' });
    await question.getByRole('radio', { name: /Continue with \+\$0\.01/ }).check();
    await question.getByRole('button', { name: 'Answer' }).click();
    await visible(page.locator('.turn-end').nth(1));
    await visible(page.getByRole('button', { name: '$0.03 of $0.03' }));
    await send('/limit none');
    await visible(page.getByRole('button', { name: 'Set limit' }));
    await send('/limit 5000 tokens');
    await visible(page.getByRole('button', { name: '210 tokens of 5,000 tokens' }));
  });

  test('of today is in the sidebar and leads to the details, that of a turn below its answer', async () => {
    await page.reload();
    await visible(page.locator('.turn-end').first().getByText('$0.015'));
    await openSidebar(page);
    await page.getByRole('link', { name: '$0.03 today' }).click();
    await visible(page.getByRole('heading', { name: 'Usage', exact: true }));
  });

  test('is charted by day, model, agent and user, and downloaded for spreadsheets', async () => {
    addUsage(app.server);
    await go('/admin?section=usage');
    await chooseOption(page.getByLabel('Period'), 'Last 90 days');
    const models = page.getByRole('region', { name: 'By model' });
    await visible(models.getByText('claude-opus-4-7'));
    await visible(page.getByRole('img', { name: /^Cost by day from \d{4}-\d\d-\d\d to/ }));
    await visible(page.getByText(/calls of models without a price cost nothing here/));
    await chooseOption(page.getByRole('combobox', { name: 'Show' }), 'Tokens');
    await visible(page.getByRole('img', { name: /^Tokens by day/ }));
    await page.getByText('As a table').click();
    await visible(page.getByRole('columnheader', { name: 'Tokens' }));
    // A user sees only their own usage.
    expect(await page.getByRole('region', { name: 'By user' }).count()).toBe(0);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^usage-.*\.csv$/);
    const csv = await Bun.file(await file.path()).text();
    expect(csv.split('\r\n')[0]).toStartWith('day,model,agent,user,task,key,calls,');
    expect(csv).toContain('claude-opus-4-7');
    expect(csv).not.toContain('grace');
    await chooseOption(page.getByLabel('Period'), 'Last month');
    await visible(models);
  });

  test('limits of the server are added, changed and removed, and refused without an amount', async () => {
    await go('/admin?section=limits');
    await visible(page.getByText('No spend limits'));
    await page.getByRole('button', { name: 'Add limit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await validationMessageOf(dialog.getByLabel('US dollars'))).toBe(
      'Enter US dollars, tokens or both.',
    );
    await dialog.getByLabel('Tokens, input and output').fill('1000000000');
    await dialog.getByLabel('Only this user (optional)').fill('local');
    await chooseOption(dialog.getByLabel('In a calendar'), 'month');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    const limits = page.getByRole('list', { name: 'Limits of this server' });
    await visible(limits.getByText('1,000,000,000 tokens per month for the user local'));
    await visible(
      page
        .getByRole('list', { name: 'Your limits' })
        .getByText(/ of the limit of 1,000,000,000 tokens per month/),
    );

    await page.getByRole('button', { name: /^Edit/ }).click();
    await chooseOption(dialog.getByLabel('For'), 'session');
    expect(await dialog.getByLabel('In a calendar').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    await visible(limits.getByText('1,000,000,000 tokens for each session'));
    await page.getByRole('button', { name: /^Remove/ }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await visible(page.getByText('No spend limits'));
  });

  test('a limit that is used up refuses the message, which stays in the field', async () => {
    const parlance = connect({ url: app.server.http });
    const { version } = await parlance.admin.settings.read();
    await parlance.admin.settings.change({
      version,
      values: { spendLimits: [{ per: 'user', in: 'day', tokens: 0 }] },
    });
    await go('/');
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('One more');
    await page.keyboard.press('Enter');
    await visible(page.getByText(/The limit of 0 tokens per day of the user local is used up/));
    expect(await field.inputValue()).toBe('One more');
    // The browser reports the refusal.
    expect(app.problems()).toMatchObject([expect.stringContaining('429')]);
  });
});
