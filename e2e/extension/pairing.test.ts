/** The extension is paired in the console and in the terminal, and revoked. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { buildConsole } from '../console/chromium.ts';
import { postJson } from '../server-process.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { askToPair, isPaired, press } from './steps.ts';

let server: TestServer;
let required: TestServer;
let extension: Extension;

describe.skipIf(NO_BROWSER)('pairing', () => {
  beforeAll(async () => {
    await buildConsole();
    [server, required, extension] = await Promise.all([
      startTestServer(),
      startTestServer({ PARLANCE_AUTH: 'required' }),
      openExtension(),
    ]);
  });
  afterAll(async () => {
    await extension?.close();
    await Promise.all([server?.stop(), required?.stop()]);
  });

  test('without a server, the panel explains what to do', async () => {
    const panel = await extension.panel();
    await panel.getByLabel('Server').fill('http://127.0.0.1:9');
    await press(panel, 'Connect');
    await panel.getByText('Start it with “parlance serve”').waitFor();
    await panel.getByLabel('Server').fill('http://example.com');
    await press(panel, 'Connect');
    await panel.getByText('Other machines need https.').waitFor();
    await panel.close();
  });

  test('after the installation it shows a code at once', async () => {
    const fresh = JSON.stringify({ status: 'none', url: server.http, isNew: true });
    await (await extension.worker()).evaluate(`chrome.storage.local.set({ connection: ${fresh} })`);
    const panel = await extension.panel();
    await panel.locator('.pair-code').waitFor();
    await press(panel, 'Cancel');
    await panel.getByRole('button', { name: 'Connect' }).waitFor();
    await panel.close();
  });

  test('in open mode one click in the console connects it, and a disconnect is shown at once', async () => {
    const panel = await extension.panel();
    const code = await askToPair(panel, server);
    const opened = extension.context.waitForEvent('page');
    await press(panel, 'Allow in the console');
    const console = await opened;
    await console.locator('.pair-code', { hasText: code }).waitFor();
    await console.getByRole('button', { name: 'Allow' }).click();
    await console.getByRole('heading', { name: 'The extension is connected' }).waitFor();
    await isPaired(panel);

    await console.goto(`${server.http}/#/settings`);
    await console.getByRole('button', { name: /^Disconnect Parlance extension/ }).click();
    await console.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await panel.getByText('The server no longer accepts this extension').waitFor();
    await console.close();
    await panel.close();
  });

  test('the approvals page of the console shows it as well', async () => {
    const panel = await extension.panel();
    const code = await askToPair(panel, server);
    const console = await extension.open(`${server.http}/#/approvals`);
    const card = console.getByRole('article', { name: /^Connect Parlance extension/ });
    await card.getByText(code).waitFor();
    await card.getByRole('button', { name: 'Deny' }).click();
    await panel.getByRole('button', { name: 'Connect' }).waitFor();
    await console.close();
    await panel.close();
  });

  test('a panel notices its revocation even while browser tools are off', async () => {
    const panel = await extension.panel();
    const code = await askToPair(panel, server);
    const { body } = await postJson(`${server.http}/v1/pairings/answer`, { code, allow: true });
    await isPaired(panel);
    await press(panel, 'Settings');
    await panel.getByLabel(/^Agents in the terminal/).uncheck();
    await fetch(`${server.http}/v1/pairings/${body.id}`, { method: 'DELETE' });
    await panel.getByText('The server no longer accepts this extension').waitFor();
    await panel.close();
  });

  test('with a login, the terminal connects it, and it can disconnect itself', async () => {
    const panel = await extension.panel();
    const code = await askToPair(panel, required);
    const token = await required.login('dev', 'dev-password');
    const env = { PARLANCE_URL: required.http, PARLANCE_TOKEN: token };
    const wrong = await runParlance(['pair', 'BBBB-BBBB'], { cwd: required.root, env });
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('No pairing request has this code'),
    ]);
    const done = await runParlance(['pair', code.toLowerCase()], { cwd: required.root, env });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain('Parlance extension');
    await isPaired(panel);
    await press(panel, 'Settings');
    await panel.getByText('as dev').waitFor();
    await press(panel, 'Disconnect');
    await panel.getByRole('button', { name: 'Connect' }).waitFor();
    const headers = { authorization: `Bearer ${token}` };
    // The panel does not wait for the answer.
    await until(async () => {
      const listed = await fetch(`${required.http}/v1/pairings`, { headers });
      return Bun.deepEquals(await listed.json(), { pairings: [], waiting: [] });
    });
    expect(extension.problems().filter((problem) => !/status of (401|403|404)|ERR_/.test(problem))).toEqual(
      [],
    );
    await panel.close();
  });
});
