/** The server is killed and the worker is suspended during a task: it continues, and nothing is done twice. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { type Site, startSite } from './site.ts';
import { ended, pair, press, send } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-recovery-'));
const TASK = 'click Add, then wait 1 second, then click Add, then wait 1 second, then click Add';

/** Changes when the worker is restarted; undefined while it is suspended. */
const WORKER = `chrome.runtime.getContexts({ contextTypes: ['BACKGROUND'] }).then(([worker]) => worker?.contextId)`;

let server: ServerProcess;
let extension: Extension;
let site: Site;

const clicks = (page: Page, count: number): Promise<void> =>
  page.locator('output', { hasText: `${count} clicks` }).waitFor();

describe.skipIf(NO_BROWSER)('a task', () => {
  beforeAll(async () => {
    site = startSite();
    [server, extension] = await Promise.all([startProcess(folder), openExtension()]);
    const panel = await extension.panel();
    await pair(panel, server);
    await panel.close();
  });
  afterAll(async () => {
    await extension?.close();
    await Promise.all([server?.kill(), site?.stop()]);
  });

  test('survives kill -9 of the server at every step', async () => {
    const page = await extension.open(`${site.http}/counter`);
    const panel = await extension.panel(page);
    await send(panel, TASK);
    await press(panel, 'Allow once');
    for (const count of [1, 2, 3]) {
      await clicks(page, count);
      const { port } = new URL(server.http);
      await server.kill();
      if (count === 2) await panel.getByText('The task continues when the server is back').waitFor();
      server = await startProcess(folder, { PORT: port });
    }
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('3 clicks');
    await Promise.all([panel.close(), page.close()]);
  });

  test('survives a suspension of the worker by Chromium', async () => {
    const page = await extension.open(`${site.http}/counter`);
    const panel = await extension.panel(page);
    await send(panel, TASK);
    await press(panel, 'Allow once');
    for (const count of [1, 2]) {
      await clicks(page, count);
      const before = await panel.evaluate(WORKER);
      const session = await extension.context.newCDPSession(panel);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      expect(before).toBeString();
      await panel.waitForFunction(`(${WORKER}).then((id) => id !== ${JSON.stringify(before)})`);
      await session.detach();
    }
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('3 clicks');
    await Promise.all([panel.close(), page.close()]);
  });

  test('that ended with the browser is reported, here and on the server', async () => {
    const profile = mkdtempSync(join(tmpdir(), 'parlance-restart-'));
    const first = await openExtension(profile);
    const setup = await first.panel();
    await pair(setup, server);
    const page = await first.open(`${site.http}/counter`);
    const panel = await first.panel(page);
    await send(panel, 'wait 30 seconds, then click Add');
    await press(panel, 'Allow once');
    await panel.getByRole('region', { name: /^wait/ }).waitFor();
    await first.close();
    const second = await openExtension(profile);
    const again = await second.panel();
    await press(again, 'Sessions');
    await again.getByRole('button', { name: /wait 30 seconds/ }).click();
    await ended(again, 'Failed');
    await again.getByText('The browser was closed before the task had ended').waitFor();
    await again.getByText('Stopped', { exact: true }).first().waitFor();
    await second.close();
    rmSync(profile, { recursive: true, force: true });
  });

  test('shows that the server is down, and reconnects by itself', async () => {
    const panel = await extension.panel();
    await panel.getByRole('heading', { name: 'What can I do for you?' }).waitFor();
    const { port } = new URL(server.http);
    await server.kill();
    await panel.reload();
    await panel.getByText('Start it with parlance serve').waitFor();
    server = await startProcess(folder, { PORT: port });
    await panel.getByRole('heading', { name: 'What can I do for you?' }).waitFor();
    await panel.close();
  });
});
