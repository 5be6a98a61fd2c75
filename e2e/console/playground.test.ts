/** The playground keeps frames, and copies them as commands for a terminal. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, chooseOption, openConsole, openSidebar, removed, visible } from './console.ts';

let app: Console;
let page: Page;

async function pane(dialect: string, session: string): Promise<Locator> {
  await page.goto(`${app.server.http}/#/settings`);
  await removed(page.getByRole('region', { name: /pane:/ }));
  await page.goto(`${app.server.http}/#/playground?session=${session}&left=${dialect}&right=none`);
  return page.getByRole('region', { name: `First pane: ${dialect}` });
}

async function connected(dialect: string, session: string): Promise<Locator> {
  const opened = await pane(dialect, session);
  await opened.getByRole('button', { name: 'Connect', exact: true }).click();
  await visible(opened.getByText(/^connected as/));
  return opened;
}

const draft = (pane: Locator) => pane.getByRole('textbox', { name: 'Frame to send' });
const group = (pane: Locator, name: string) => pane.getByLabel('Insert').locator(`optgroup[label="${name}"]`);
const clipboard = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');

describe.skipIf(NO_BROWSER)('playground', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('sent frames are in the history after a reload, for the session that is open then', async () => {
    const first = await connected('broadcast', 'one');
    await draft(first).fill('{"type":"chat","message":"hello","session_id":"one"}');
    await first.getByRole('button', { name: 'Send' }).click();
    await visible(first.getByRole('article', { name: /received: agent_message$/ }).first());
    const second = await pane('broadcast', 'two');
    await page.reload();
    await chooseOption(second.getByLabel('Insert'), 'chat: hello');
    expect(await draft(second).inputValue()).toBe('{"type":"chat","message":"hello","session_id":"two"}');
    const other = await pane('agentloop', 'two');
    expect(await group(other, 'History').count()).toBe(0);
  });

  test('a frame is saved under a name, inserted, and removed', async () => {
    const opened = await pane('agentloop', 'kept');
    await draft(opened).fill('{"type":"mine"}');
    await opened.getByRole('button', { name: 'Save …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save frame' });
    await dialog.getByLabel('Name').fill('My frame');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await visible(page.getByText('Saved “My frame”.'));
    await draft(opened).fill('{}');
    await page.reload();
    await chooseOption(opened.getByLabel('Insert'), 'My frame');
    expect(await draft(opened).inputValue()).toBe('{"type":"mine"}');
    await opened.getByRole('button', { name: 'Save …' }).click();
    await dialog.getByRole('button', { name: 'Remove My frame' }).click();
    await removed(dialog.getByRole('list', { name: 'Saved frames' }));
    await page.keyboard.press('Escape');
    expect(await group(opened, 'Saved').count()).toBe(0);
  });

  test('a frame of a socket is copied as wscat', async () => {
    const opened = await pane('broadcast', 'copied');
    await draft(opened).fill(`{"type":"chat","message":"it's me"}`);
    await opened.getByRole('button', { name: 'Copy as wscat' }).click();
    await visible(page.getByText('Copied as wscat.'));
    expect(await clipboard()).toStartWith(
      `npx wscat -c 'ws://127.0.0.1:${new URL(app.server.http).port}/broadcast?session=copied'`,
    );
    expect(await clipboard()).toContain(`-x '{"type":"chat","message":"it'\\''s me"}'`);
  });

  test('a command and a request are copied as curl, and run', async () => {
    const opened = await pane('native', 'curled');
    await draft(opened).fill('{"type":"input.submit","parts":[{"type":"text","text":"it\'s from a shell"}]}');
    await opened.getByRole('button', { name: 'Copy as curl' }).click();
    await visible(page.getByText('Copied as curl.'));
    const shell = Bun.spawn(['sh', '-c', await clipboard()], { stdout: 'pipe' });
    expect(JSON.parse(await shell.stdout.text())).toHaveProperty('facts');
    await openSidebar(page);
    await visible(page.locator('.session-title').getByText("it's from a shell"));
  });
});
