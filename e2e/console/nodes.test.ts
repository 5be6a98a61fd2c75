/** Nodes in the console: one without a cluster; several with their leases, their sessions and a bus that is down. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { type Cluster, missing, startCluster } from '../cluster/nodes.ts';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import type { ServerProcess } from '../server-process.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, submitInput, visible } from './console.ts';

let app: Console;

async function logIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(`${name}-password`);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

/** Light, dark and on a small phone. Leaves the screen as it was. */
async function expectAccessible(page: Page): Promise<void> {
  await prepare(page);
  expect(await accessibilityProblems(page, 'all')).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await accessibilityProblems(page, 'colours')).toEqual([]);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(overflow)).toBe(0);
  expect(await accessibilityProblems(page, 'all')).toEqual([]);
  await page.setViewportSize(app.screen.viewport);
  await page.emulateMedia({ colorScheme: app.screen.colorScheme });
}

/** A browser logs every unsuccessful response: those without the right to ask are expected. */
const problems = () => app.problems().filter((problem) => !/status of 40[13]/.test(problem));

describe.skipIf(NO_BROWSER)('nodes in the console', () => {
  beforeAll(async () => {
    app = await openConsole({ PARLANCE_AUTH: 'required' });
  });
  afterAll(() => app?.stop());

  test('a server with its own data folder is shown as one node; only admins see the section', async () => {
    const page = await app.open('/admin?section=nodes', { reducedMotion: 'reduce' });
    await logIn(page, 'ada');
    await visible(page.getByText('This server runs alone and stores everything in its data folder'));
    await visible(page.getByRole('row').filter({ hasText: 'this node' }).getByText('no lease'));
    await expectAccessible(page);
    const other = await app.open('/admin?section=nodes');
    await logIn(other, 'dev');
    await visible(other.getByRole('heading', { name: 'You do not have access' }));
    expect(await other.getByRole('link', { name: 'Nodes' }).count()).toBe(0);
    expect(problems()).toEqual([]);
    for (const one of [page, other]) await one.context().close();
  });

  describe.skipIf(missing !== null)(`of a cluster${missing ? ` (not here: ${missing})` : ''}`, () => {
    let cluster: Cluster;
    let model: DictatedModel;
    let nodes: [ServerProcess, ServerProcess];
    beforeAll(async () => {
      model = dictatedModel();
      cluster = await startCluster({
        ...model.settings,
        PARLANCE_AUTH: 'required',
        AUTH_USERS: 'ada:ada-password:admin;dev:dev-password:developer',
      });
      nodes = await Promise.all([cluster.start(), cluster.start()]);
    });
    afterAll(async () => {
      await cluster?.stop();
      model?.stop();
    });

    const tokenOf = async ({ http }: ServerProcess, username: string): Promise<string> => {
      const response = await fetch(`${http}/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password: `${username}-password` }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    };

    test('they are shown with their sessions, as degraded without the bus, and as gone', async () => {
      const [here, there] = nodes;
      const page = await app.open('/admin?section=nodes', { at: here.http, reducedMotion: 'reduce' });
      await logIn(page, 'ada');
      await visible(page.getByText('2 nodes are alive.'));
      await until(async () => (await page.getByText('connected', { exact: true }).count()) === 2);
      const other = page.getByRole('row').filter({ hasNotText: 'this node' }).nth(1);
      const name = String(await other.getByRole('rowheader').locator('code').textContent());

      const asked = model.asked();
      await submitInput({ http: there.http, token: await tokenOf(there, 'dev') }, 'driven', 'Hi');
      await asked;
      await visible(other.getByRole('cell', { name: '1', exact: true }));
      const chat = await app.openBeside(page, '/sessions/driven');
      // A phone has no room for it.
      await chat.getByText(`node ${name}`).waitFor({ state: 'attached' });
      await expectAccessible(chat);
      const timeline = await app.openBeside(page, '/timeline/driven');
      await timeline.getByText(`node ${name}`).waitFor({ state: 'attached' });
      model.end();
      for (const one of [chat, timeline]) await removed(one.getByText(`node ${name}`));

      await cluster.redis.kill();
      await visible(page.getByText(/Degraded: .* do not reach the bus/));
      await expectAccessible(page);
      await cluster.redis.restart();
      await removed(page.getByText(/Degraded/));
      await there.kill();
      await visible(page.getByText('One node is alive.'));
      await visible(other.getByText('gone'));
      expect(problems()).toEqual([]);
      await page.context().close();
    });
  });
});
