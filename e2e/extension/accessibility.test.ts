/** Runs axe on every view of the panel, light and dark, and checks for policy violations. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { accessibilityProblems, prepare } from '../console/axe.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { type Site, startSite } from './site.ts';
import { askToPair, ended, isPaired, press, send } from './steps.ts';

let server: TestServer;
let extension: Extension;
let site: Site;

const OVERFLOW = `[document.documentElement, ...document.querySelectorAll('main')]
  .map((element) => element.scrollWidth - element.clientWidth)
  .find((pixels) => pixels > 0) ?? 0`;

async function check(panel: Page): Promise<void> {
  await prepare(panel);
  await panel.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await accessibilityProblems(panel, 'all')).toEqual([]);
  await panel.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await accessibilityProblems(panel, 'colours')).toEqual([]);
  await panel.setViewportSize({ width: 320, height: 640 });
  expect(await panel.evaluate(OVERFLOW)).toBe(0);
  await panel.setViewportSize({ width: 400, height: 760 });
}

describe.skipIf(NO_BROWSER)('every view of the panel is accessible', () => {
  let panel: Page;
  let page: Page;
  beforeAll(async () => {
    site = startSite();
    [server, extension] = await Promise.all([startTestServer(), openExtension()]);
    page = await extension.open(`${site.http}/shop`);
    panel = await extension.panel(page);
  });
  afterAll(async () => {
    await extension?.close();
    await Promise.all([server?.stop(), site?.stop()]);
  });

  test('pairing', async () => {
    await panel.getByRole('button', { name: 'Connect' }).waitFor();
    await check(panel);
    const code = await askToPair(panel, server);
    await check(panel);
    const body = JSON.stringify({ code, allow: true });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.http}/v1/pairings/answer`, { method: 'POST', headers, body });
    await isPaired(panel);
    await check(panel);
  });

  test('a task with its questions', async () => {
    await send(panel, 'click Pay now');
    await panel.getByRole('article', { name: 'Site permission' }).waitFor();
    await check(panel);
    await press(panel, 'Always allow');
    await panel.getByRole('article', { name: 'Confirm the action' }).waitFor();
    await check(panel);
    await press(panel, 'Allow');
    await ended(panel, 'Completed');
    await check(panel);
    await page.goto(site.http);
    await send(panel, 'enter into Name');
    await panel.getByRole('form', { name: 'Question from the agent' }).waitFor();
    await check(panel);
    await press(panel, 'Stop all');
    await ended(panel, 'Stopped');
  });

  test('sessions and settings', async () => {
    await press(panel, 'Sessions');
    await panel
      .getByRole('button', { name: /Pay now/ })
      .first()
      .waitFor();
    await check(panel);
    await press(panel, 'Settings');
    await panel.getByRole('heading', { name: 'Browser tools' }).waitFor();
    await check(panel);
    expect(extension.problems()).toEqual([]);
  });
});
