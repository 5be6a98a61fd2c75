/** Tasks on real pages, planned by the offline model and executed by the extension. */
import { afterAll, beforeAll, describe, test } from 'bun:test';
import { type Site, serveSite } from '../../packages/extension/testing/site.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { NO_BROWSER } from './build.ts';
import { type TaskBrowser, taskBrowser } from './tasks/browser.ts';
import { OFFLINE_TASKS } from './tasks/offline.ts';
import { chosen, runTask } from './tasks/run.ts';

let site: Site;
let server: TestServer;
let browser: TaskBrowser;

describe.skipIf(NO_BROWSER)('the offline model', () => {
  beforeAll(async () => {
    site = serveSite();
    server = await startTestServer();
    browser = await taskBrowser(server, [site.url]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    site?.stop();
  });

  for (const task of chosen(OFFLINE_TASKS))
    test(`${task.page}: ${task.query}`, () => runTask(browser, site, task));
});
