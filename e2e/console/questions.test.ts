/** Questions of the agent in the console: answered in the chat, on the page of approvals, with the keyboard, or elsewhere. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

const QUESTIONS = [
  {
    header: 'Database',
    question: 'Which <b>one</b>?',
    options: [{ label: 'SQLite', description: 'A file.' }, { label: 'PostgreSQL' }],
  },
  {
    header: 'Extras',
    question: 'What else?',
    options: [{ label: 'Backups' }, { label: 'Metrics' }],
    multiple: true,
  },
];

let app: Console;
let model: ScriptedModel;
let page: Page;
/** what the model read as the result of its call */
let results: string[] = [];

describe.skipIf(NO_BROWSER)('a question of the agent', () => {
  beforeAll(async () => {
    model = scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role !== 'tool') return { call: 'ask_user', input: { questions: QUESTIONS } };
      results.push(JSON.stringify(last.content));
      return { say: 'Thank you.' };
    });
    app = await openConsole(model.settings);
    page = await app.open();
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });
  afterEach(async () => {
    await skipAll();
    results = [];
    expect(app.problems()).toEqual([]);
  });

  /** Opens a session whose agent asks. */
  async function asked(): Promise<Locator> {
    await page.goto(`${app.server.http}/#/`);
    await visible(page.getByRole('heading', { name: 'What can I do for you?' }));
    await page.getByRole('textbox', { name: 'Message' }).fill('Go');
    await page.keyboard.press('Enter');
    const card = page.locator('article.question[data-state=pending]');
    await visible(card);
    return card;
  }
  /** Answers the remaining questions of earlier tests. */
  async function skipAll(): Promise<void> {
    const parlance = connect({ url: app.server.http });
    for (const { id } of await parlance.questions.list()) await parlance.questions.answer(id, null);
  }
  const ended = () => visible(page.locator('.turn-end'));

  test('is answered with the keyboard: an option, several, and a text; its texts are shown as they are', async () => {
    const card = await asked();
    await visible(card.getByText('Which <b>one</b>?'));
    // Screen readers are told, and nothing claims that the agent works.
    await page.getByText('Question: Which <b>one</b>?').waitFor({ state: 'attached' });
    expect(await page.getByText('is working').count()).toBe(0);
    await card.getByRole('radio', { name: /PostgreSQL/ }).focus();
    await page.keyboard.press('Space');
    await card.getByRole('checkbox', { name: 'Backups' }).focus();
    await page.keyboard.press('Space');
    await card.getByRole('textbox').last().fill('A dashboard');
    await card.getByRole('button', { name: 'Answer' }).press('Enter');
    await ended();
    expect(results).toHaveLength(1);
    for (const given of ['PostgreSQL', 'Backups', 'A dashboard']) expect(results[0]).toContain(given);
    expect(results[0]).not.toContain('Metrics');
    const answered = page.locator('article.question[data-state=answered]');
    await visible(answered.getByText('PostgreSQL'));
    expect(await answered.getByRole('button', { name: 'Answer' }).count()).toBe(0);
  });

  test('is skipped, and the model reads that there is no answer', async () => {
    const card = await asked();
    await card.getByRole('button', { name: 'Skip' }).click();
    await ended();
    expect(results[0]).toContain('declined');
  });

  test('is answered on the page of approvals', async () => {
    await asked();
    await page.goto(`${app.server.http}/#/approvals`);
    const card = page.locator('article.question[data-state=pending]');
    await card.getByRole('radio', { name: /SQLite/ }).check();
    await card.getByRole('checkbox', { name: 'Metrics' }).check();
    await card.getByRole('button', { name: 'Answer' }).click();
    await removed(card);
    await until(() => results.length > 0);
    expect(results[0]).toContain('SQLite');
  });

  test('that another client answers is no longer offered', async () => {
    const card = await asked();
    const parlance = connect({ url: app.server.http });
    const [pending] = await parlance.questions.list();
    if (!pending) throw new Error('nothing is asked');
    const ids = pending.questions.map(({ id }) => id);
    await parlance.questions.answer(pending.id, {
      [ids[0] ?? '']: ['SQLite'],
      [ids[1] ?? '']: ['Metrics'],
    });
    await removed(card);
    await visible(page.locator('article.question[data-state=answered]').getByText('SQLite'));
    await ended();
  });

  test('that is not answered in full stays open, and says what is missing', async () => {
    const card = await asked();
    await card.getByRole('checkbox', { name: 'Backups' }).check();
    await card.getByRole('button', { name: 'Answer' }).click();
    await visible(page.locator('.toast').getByText(/Database/));
    expect(await card.getAttribute('data-state')).toBe('pending');
    expect(results).toEqual([]);
    // The browser reports the refused answer.
    await until(() => app.problems().some((problem) => problem.includes('400')));
  });
});
