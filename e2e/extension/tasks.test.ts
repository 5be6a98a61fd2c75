/** Chats and tasks in the panel: permissions, confirmations, stop, and an unreachable server. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../packages/sdk/src/index.ts';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { pauseClock } from '../console/console.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { type Site, startSite } from './site.ts';
import { ended, pair, press, pressStop, send } from './steps.ts';

let server: TestServer;
let extension: Extension;
let site: Site;

describe.skipIf(NO_BROWSER)('the panel', () => {
  beforeAll(async () => {
    site = startSite();
    [server, extension] = await Promise.all([startTestServer(), openExtension()]);
    const panel = await extension.panel();
    await pair(panel, server);
    await panel.close();
  });
  afterAll(async () => {
    await extension?.close();
    await Promise.all([server?.stop(), site?.stop()]);
  });

  test('chats without the tab, and answers an approval', async () => {
    const panel = await extension.panel();
    await panel.getByLabel('Use this tab').uncheck();
    await send(panel, 'run touch from-the-panel.txt');
    await panel.getByRole('article', { name: 'Approval for shell' }).waitFor();
    await panel.keyboard.press('Escape');
    await panel.keyboard.press('y');
    await panel.locator('.turn-end').waitFor();
    expect(existsSync(join(server.root, 'from-the-panel.txt'))).toBe(true);
    await press(panel, 'Sessions');
    await panel.getByRole('button', { name: /run touch from-the-panel/ }).waitFor();
    await panel.close();
  });

  test('slash commands before the first message apply to the session that it begins', async () => {
    const parlance = connect({ url: server.http });
    const before = (await parlance.sessions.list()).sessions.length;
    const panel = await extension.panel();
    await panel.getByLabel('Use this tab').uncheck();
    await send(panel, '/compact');
    await panel.getByText('The session has no messages yet.').waitFor();
    await send(panel, '/domain social_chat');
    await send(panel, '/agent storyteller');
    await send(panel, '/approval auto-edit');
    await panel.getByText('New session: domain social_chat, agent storyteller, approval auto-edit').waitFor();
    expect((await parlance.sessions.list()).sessions).toHaveLength(before);
    await send(panel, 'What can you do?');
    await panel.locator('.turn-end').waitFor();
    const { sessions } = await parlance.sessions.list();
    expect(sessions).toHaveLength(before + 1);
    const [begun] = sessions;
    expect(begun).toMatchObject({ domain: 'social_chat' });
    expect(await parlance.session(begun?.id).get()).toMatchObject({
      now: { agent: { id: 'storyteller' }, approvalMode: 'auto-edit' },
    });
    expect(extension.problems()).toEqual([]);
    await panel.close();
  });

  test('a task asks for permission for the site, shows plan, actions and verification, and completes', async () => {
    const page = await extension.open(site.http);
    const panel = await extension.panel(page);
    await send(panel, 'enter "Ada" into Name, then enter "London" into City, then click Send');
    await panel.getByRole('article', { name: 'Site permission' }).waitFor();
    expect(await page.locator('input').first().inputValue()).toBe('');
    await press(panel, 'Allow once');
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('Thanks Ada');
    expect(await panel.getByRole('list', { name: 'Plan' }).getByRole('listitem').count()).toBe(3);
    const step = panel.getByRole('region', { name: 'click(3)' });
    await step.getByText('Done').waitFor();
    await step.locator('.browser-outcome[data-ok="true"]').waitFor();
    expect(extension.problems()).toEqual([]);
    await Promise.all([panel.close(), page.close()]);
  });

  test('two tasks run in two tabs, each in its own', async () => {
    const pages = [await extension.open(`${site.http}/?1`), await extension.open(`${site.http}/?2`)];
    const panels = await Promise.all(pages.map((page) => extension.panel(page)));
    for (const [index, panel] of panels.entries())
      await send(panel, `enter "Tab ${index}" into Name, then click Send`);
    for (const panel of panels) await press(panel, 'Allow once');
    for (const [index, panel] of panels.entries()) {
      await ended(panel, 'Completed');
      expect(await pages[index]?.locator('output').textContent()).toBe(`Thanks Tab ${index}`);
    }
    await Promise.all([...panels, ...pages].map((page) => page.close()));
  });

  test('a payment needs confirmation even on an allowed site, and is not made if denied', async () => {
    const page = await extension.open(`${site.http}/shop`);
    const panel = await extension.panel(page);
    await panel.locator('.site-bar select').selectOption('allow');
    await send(panel, 'click Pay now');
    const ask = panel.getByRole('article', { name: 'Confirm the action' });
    await ask.getByText('looks like a payment').waitFor();
    // The beginning of a message is no answer; a letter that stands alone is one.
    const field = panel.getByRole('textbox', { name: 'Message' });
    await field.focus();
    await panel.clock.install();
    await pauseClock(panel);
    await panel.keyboard.type('you should not');
    expect(await field.inputValue()).toBe('you should not');
    await field.fill('');
    await panel.keyboard.press('n');
    await ask.getByText('“Deny” is chosen: Enter confirms it now').waitFor();
    await panel.clock.resume();
    await panel.keyboard.press('Enter');
    await ask.waitFor({ state: 'detached' });
    await panel.getByText('The user did not allow this action', { exact: false }).first().waitFor();
    expect(await page.locator('output').textContent()).toBe('');
    // The task may end by itself.
    const stop = panel.getByRole('button', { name: 'Stop all' });
    await until(async () => {
      if (!(await stop.isVisible())) return true;
      await stop.click({ timeout: 1_000 }).catch(() => undefined);
    });
    await send(panel, 'click Pay now');
    await press(panel, 'Allow');
    await ended(panel, 'Completed');
    expect(await page.locator('output').textContent()).toBe('Paid');
    await panel.locator('.site-bar select').selectOption('ask');
    await Promise.all([panel.close(), page.close()]);
  });

  test('values of card and password fields never reach the server', async () => {
    const page = await extension.open(`${site.http}/shop`);
    const panel = await extension.panel(page);
    await send(panel, 'what is on this page?');
    await press(panel, 'Allow once');
    await ended(panel, 'Completed');
    const { sessions } = (await (await fetch(`${server.http}/v1/sessions`)).json()) as {
      sessions: { id: string }[];
    };
    for (const { id } of sessions) {
      const events = await (await fetch(`${server.http}/v1/sessions/${id}/events?limit=1000`)).text();
      expect(events).not.toContain('4111111111111111');
      expect(events).not.toContain('correct horse');
    }
    await Promise.all([panel.close(), page.close()]);
  });

  test('a blocked site is neither read nor used', async () => {
    const page = await extension.open(site.http);
    const panel = await extension.panel(page);
    await panel.locator('.site-bar select').selectOption('never');
    await send(panel, 'click Send');
    await ended(panel, 'Failed');
    await panel.getByText('does not allow').first().waitFor();
    expect(await page.locator('output').textContent()).toBe('');
    await panel.locator('.site-bar select').selectOption('ask');
    await Promise.all([panel.close(), page.close()]);
  });

  test('scripts of a page can stop everything, but nothing else', async () => {
    const page = await extension.open(`${site.http}/counter`);
    const panel = await extension.panel(page);
    await send(panel, 'click Add');
    await panel.getByRole('article', { name: 'Site permission' }).waitFor();
    const tabId = await extension.tabOf(page);
    const fromPage = async (message: string) =>
      (await extension.worker()).evaluate(`chrome.scripting.executeScript({
        target: { tabId: ${tabId} },
        func: (text) => void chrome.runtime.sendMessage(JSON.parse(text)),
        args: [${JSON.stringify(message)}],
      })`);
    const asked = await (await extension.worker()).evaluate('chrome.storage.session.get("asks")');
    const [{ id }] = (asked as { asks: [{ id: string }] }).asks;
    await fromPage(JSON.stringify({ kind: 'answer', id, answer: 'always' }));
    await fromPage(
      JSON.stringify({ kind: 'task', session: crypto.randomUUID(), tab: tabId, query: 'click Add' }),
    );
    await fromPage(JSON.stringify({ kind: 'stop' }));
    await ended(panel, 'Stopped');
    expect(await page.locator('output').textContent()).toBe('0 clicks');
    const sites = await (await extension.worker()).evaluate('chrome.storage.local.get("sites")');
    expect(JSON.stringify(sites)).not.toContain('allow');
    await Promise.all([panel.close(), page.close()]);
  });

  test.each(['the button in the page', 'the keyboard shortcut'])('%s stops everything', async (way) => {
    const page = await extension.open(`${site.http}/counter`);
    const panel = await extension.panel(page);
    await send(panel, 'wait 20 seconds, then click Add');
    await press(panel, 'Allow once');
    await panel.getByRole('region', { name: /^wait/ }).waitFor();
    if (way === 'the button in the page') await pressStop(page);
    else {
      const worker = await extension.worker();
      const shortcuts: { name: string; shortcut: string }[] =
        await worker.evaluate('chrome.commands.getAll()');
      expect(shortcuts.map(({ shortcut }) => shortcut)).toEqual(['Alt+Shift+L', 'Alt+Shift+S']);
      // Keys of a test reach the page alone.
      await worker.evaluate(`chrome.commands.onCommand.dispatch('stop')`);
    }
    await ended(panel, 'Stopped');
    expect(await page.locator('output').textContent()).toBe('0 clicks');
    expect(await page.locator('[data-parlance-indicator]').count()).toBe(0);
    await Promise.all([panel.close(), page.close()]);
  });

  test('stop ends a task here and on the server', async () => {
    const page = await extension.open(`${site.http}/counter`);
    const panel = await extension.panel(page);
    await send(panel, 'wait 20 seconds, then click Add');
    await press(panel, 'Allow once');
    await panel.getByRole('region', { name: /^wait/ }).waitFor();
    await press(panel, 'Stop all');
    await ended(panel, 'Stopped');
    await panel.getByText('Stopped', { exact: true }).nth(1).waitFor();
    expect(await page.locator('output').textContent()).toBe('0 clicks');
    await Promise.all([panel.close(), page.close()]);
  });
});
