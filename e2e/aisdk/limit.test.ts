/** A session reaches its limit in a page of the AI SDK, pauses, and is continued from the terminal. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import type { Browser } from 'playwright-core';
import { hasTmux, openTerminal } from '../../packages/cli/src/testing/tmux.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { launchBrowser, NO_BROWSER } from '../console/chromium.ts';
import { visible } from '../console/console.ts';
import { scriptedConversations } from '../conversations.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { durableOf } from '../server-process.ts';
import { type ServedPage, servePage } from './page.ts';

let model: ScriptedModel;
let server: TestServer;
let served: ServedPage;
let browser: Browser;

describe.skipIf(NO_BROWSER || !hasTmux)('a session with a limit', () => {
  beforeAll(async () => {
    model = scriptedConversations({
      'List the files': [{ call: 'list_files', input: {} }, { say: 'There are none.' }],
    });
    server = await startTestServer(model.settings);
    [served, browser] = await Promise.all([servePage(server, true), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    await server?.stop();
    model?.stop();
  });

  test('pauses in the page of the AI SDK, and goes on when it is answered in the terminal', async () => {
    const id = 'limited';
    const session = connect({ url: server.http }).session(id);
    await session.send({ type: 'session.create' });
    await session.send({ type: 'session.configure', limit: { tokens: 10 } });
    const page = await browser.newPage();
    await page.goto(`${served.http}/?id=${id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('List the files');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await visible(page.getByText(/Continue with/));
    expect((await durableOf(server, id)).filter(({ type }) => type === 'step.ended')).toHaveLength(1);

    await using terminal = await openTerminal({
      args: ['chat', '--session', id],
      cwd: server.root,
      env: { PARLANCE_URL: server.http },
      rows: 40,
    });
    await terminal.shows(/2\. Continue without a limit/);
    await terminal.type('2');
    await terminal.press('Enter');
    await terminal.shows(/There are none\./);
    await page.reload();
    await visible(page.getByText('There are none.'));
    expect((await durableOf(server, id)).filter(({ type }) => type === 'step.ended')).toHaveLength(2);
    await page.close();
  });
});
