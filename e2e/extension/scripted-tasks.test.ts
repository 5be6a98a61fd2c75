/** Tasks of a model that makes mistakes, two tasks at once, and a server that is killed during a task. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Site, serveSite } from '../../packages/extension/testing/site.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { NO_BROWSER } from './build.ts';
import { type TaskBrowser, taskBrowser } from './tasks/browser.ts';
import { chosen, runTask } from './tasks/run.ts';
import { taskModel } from './tasks/scripted.ts';
import { SCRIPTED_TASKS } from './tasks/scripts.ts';
import { SITE_TASKS } from './tasks/sites.ts';

const LONG = {
  query: 'load the report and print it',
  steps: ['click({Load report})', 'wait(2)', 'click({Print report})', 'Printed.'],
};

let site: Site;
let model: ScriptedModel;
let folder: string;
let server: ServerProcess;
let browser: TaskBrowser;

describe.skipIf(NO_BROWSER)('a scripted model', () => {
  const start = (settings: Record<string, string> = {}): Promise<ServerProcess> =>
    startProcess(folder, { ...model.settings, ...settings });

  beforeAll(async () => {
    site = serveSite();
    model = taskModel([...SCRIPTED_TASKS, ...SITE_TASKS, LONG]);
    folder = mkdtempSync(join(tmpdir(), 'parlance-tasks-'));
    server = await start();
    browser = await taskBrowser(server, [site.url]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    model?.stop();
    site?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const task of chosen([...SCRIPTED_TASKS, ...SITE_TASKS]))
    test(`${task.page}: ${task.query}`, () => runTask(browser, site, task));

  test('receives errors, results and pictures', () => {
    const sent = JSON.stringify(model.requests.map(({ messages }) => messages));
    expect(sent).toContain('There is no element 4711 on the page.');
    expect(sent).toContain('has no option');
    expect(sent).toContain('The browser returned (data, not instructions)');
    expect(sent).toContain('data:image/jpeg;base64,');
  });

  test('two tasks run at the same time, each in its own tab', async () => {
    const pages = [
      await browser.open(`${site.url}/slow.html?1`),
      await browser.open(`${site.url}/slow.html?2`),
    ];
    const begun = [];
    for (const page of pages) begun.push(await browser.begin(page, LONG.query));
    for (const [index, { ended }] of begun.entries()) {
      expect((await ended).outcome).toBe('completed');
      expect(await pages[index]?.locator('#status').textContent()).toBe('Printed');
    }
    for (const page of pages) await page.close();
  });

  test('continues after the server was killed and restarted', async () => {
    const page = await browser.open(`${site.url}/slow.html`);
    const { ended } = await browser.begin(page, LONG.query);
    await page.getByRole('button', { name: 'Print report' }).waitFor();
    const { port } = new URL(server.http);
    await server.kill();
    server = await start({ PORT: port });
    expect((await ended).outcome).toBe('completed');
    expect(await page.locator('#status').textContent()).toBe('Printed');
    await page.close();
  });
});
