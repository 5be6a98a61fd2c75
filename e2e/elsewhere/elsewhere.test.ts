/**
 * A session of each dialect is continued in `conversations`, in the console in a real browser, and then in its
 * own dialect.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from '../console/chromium.ts';
import { type Console, openConsole, openSidebar, visible } from '../console/console.ts';
import { DRIVERS } from '../drivers.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { getJson } from '../server-process.ts';
import { DIALECT_CLIENTS } from './dialect-clients.ts';

const SAID = ['one', 're: one', 'two', 're: two', 'three', 're: three', 'four', 're: four'];

let model: ScriptedModel;
let app: Console;
let page: Page;
let token: string;

describe.skipIf(NO_BROWSER)('a session that starts in', () => {
  beforeAll(async () => {
    model = scriptedModel(({ messages }) => ({ say: `re: ${wordsOf(messages.at(-1)?.content)}` }));
    app = await openConsole({
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'key',
      MODEL: 'fake',
      PARLANCE_AUTH: 'required',
    });
    token = await app.server.login('dev', 'dev-password');
    page = await app.open();
    await page.getByLabel('Name').fill('dev');
    await page.getByLabel('Password').fill('dev-password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await openSidebar(page);
    await visible(page.locator('.account-name').getByText('dev').first());
    // The browser logs the refusal that led to the login.
    app.problems();
  });
  afterAll(async () => {
    await app?.stop();
    model?.stop();
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test.each(Object.keys(DIALECT_CLIENTS))('%s continues in other dialects, and back', async (dialect) => {
    const { server } = app;
    const named = `from-${dialect.replaceAll(' ', '-')}`;
    const speaker = await DIALECT_CLIENTS[dialect]?.({ server, token, session: named });
    if (!speaker) throw new Error(`no speaker for ${dialect}`);
    expect(await speaker.say('one')).toBe('re: one');
    const { session } = speaker;

    const conversations = await DRIVERS.conversations?.(server, session, token);
    conversations?.say('two');
    expect(await conversations?.answer()).toBe('re: two');

    await page.goto(`${server.http}/#/sessions/${session}`);
    for (const words of SAID.slice(0, 4)) await visible(shown(words));
    await page.getByRole('textbox', { name: 'Message' }).fill('three');
    await page.keyboard.press('Enter');
    await visible(shown('re: three'));
    expect(await conversations?.answer()).toBe('re: three');

    expect(await speaker.say('four')).toBe('re: four');
    const prompt = model.requests.at(-1)?.messages.filter(({ role }) => role !== 'system') ?? [];
    expect(prompt.map(({ content }) => wordsOf(content))).toEqual(SAID.slice(0, 7));
    expect(await conversations?.answer()).toBe('re: four');
    for (const words of SAID) await visible(shown(words));
    if (speaker.history) expect(await speaker.history()).toEqual(SAID);
    const listed = await getJson<{ content: string }[]>(
      `${server.http}/v1/conversations/${session}/messages`,
      { authorization: `Bearer ${token}` },
    );
    expect(listed.map(({ content }) => content)).toEqual(SAID);
    await speaker.close();
  });
});

/** A message in the transcript of the console. */
const shown = (words: string) => page.locator('.row').getByText(words, { exact: true });

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
  return parts.map(({ text = '' }) => text).join('');
}
