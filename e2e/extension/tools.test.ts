/** Agents in other clients use the browser: permission for the site, content they read, stop. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '../../packages/server/src/testing/server.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { postJson } from '../server-process.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { type Site, startSite } from './site.ts';
import { pair, press } from './steps.ts';

let server: TestServer;
let extension: Extension;
let site: Site;

/** Calls a tool from a session of another client, like its agent. */
async function call(tool: string, input: object): Promise<Record<string, unknown>> {
  const session = `tools-${crypto.randomUUID()}`;
  const body = { type: 'input.submit', parts: [], call: { tool, input } };
  await fetch(`${server.http}/v1/sessions/${session}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return until(async () => {
    const response = await fetch(`${server.http}/v1/sessions/${session}/events?limit=1000`);
    const { events } = (await response.json()) as { events: Record<string, unknown>[] };
    return events.find(({ type }) => type === 'tool.ended');
  });
}

const textOf = (event: Record<string, unknown>): string => JSON.stringify(event.parts);

describe.skipIf(NO_BROWSER)('browser tools', () => {
  beforeAll(async () => {
    site = startSite();
    [server, extension] = await Promise.all([
      startTestServer({ TOOL_USE_APPROVAL_MODE: 'suggest', PARLANCE_LISTEN: 'agentloop=0' }),
      openExtension(),
    ]);
    const panel = await extension.panel();
    await pair(panel, server);
    await panel.close();
  });
  afterAll(async () => {
    await extension?.close();
    await Promise.all([server?.stop(), site?.stop()]);
  });

  test('reading the page asks once, and the result is untrusted content', async () => {
    const page = await extension.open(`${site.http}/shop`);
    const panel = await extension.panel(page);
    await page.bringToFront();
    const reading = call('extract_page_content', {});
    const ask = panel.getByRole('article', { name: 'Site permission' });
    await ask.getByText('An agent in another client wants to: Read the page').waitFor();
    await ask.getByRole('button', { name: 'Allow once' }).click();
    const read = await reading;
    expect(read).toMatchObject({ outcome: 'ok', untrusted: true });
    expect(textOf(read)).toContain('Checkout');
    expect(textOf(read)).not.toContain('4111111111111111');
    expect(textOf(await call('extract_page_content', { selector: 'h1' }))).toContain('Checkout');
    await Promise.all([panel.close(), page.close()]);
  });

  test('a payment needs confirmation; tabs on other sites are not listed', async () => {
    const page = await extension.open(`${site.http}/shop`);
    const panel = await extension.panel(page);
    await page.bringToFront();
    const paying = call('dom_manipulation', { action: 'click', selector: 'button' });
    const ask = panel.getByRole('article', { name: 'Confirm the action' });
    await ask.getByText('looks like a payment').waitFor();
    await ask.getByRole('button', { name: 'Deny' }).click();
    expect(textOf(await paying)).toContain('did not allow');
    expect(await page.locator('output').textContent()).toBe('');
    const tabs = textOf(await call('tab_management', { action: 'list' }));
    expect(tabs).toContain('/shop');
    expect(tabs).toContain('hidden');
    expect(tabs).not.toContain('chrome-extension');
    await press(panel, 'Settings');
    await panel.getByRole('list', { name: 'Recent use' }).getByText('did not allow').waitFor();
    await Promise.all([panel.close(), page.close()]);
  });

  test('the console is never read or used, however its address is written, even if its site is allowed', async () => {
    const { port } = new URL(server.http);
    const listener = server.running.listeners[0]?.port;
    const names = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f000001',
      '127.9.9.9',
      'localhost.',
      'a.localhost',
      '[::ffff:127.0.0.1]',
    ];
    const addresses = [
      ...names.map((name) => `http://${name}:${port}/`),
      `http://localhost:${listener}/v1/server`,
    ];
    const origins = addresses.map((address) => new URL(address).origin);
    const allowed = Object.fromEntries([...origins, site.http].map((origin) => [origin, 'allow']));
    const worker = await extension.worker();
    await worker.evaluate(`chrome.storage.local.set({ sites: ${JSON.stringify(allowed)} })`);
    const before = extension.context.pages().length;
    for (const url of addresses)
      for (const [tool, input] of [
        ['open_url', { url }],
        ['extract_page_content', { url }],
        ['tab_management', { action: 'create', url }],
      ] as const)
        expect(textOf(await call(tool, input))).toContain('belongs to the Parlance server itself');
    expect(extension.context.pages().length).toBe(before);

    // The agent's own command waits for approval in the tab that the person looks at.
    await postJson(`${server.http}/v1/sessions/waiting/commands`, {
      type: 'input.submit',
      parts: [{ type: 'text', text: 'run touch approved-by-itself.txt' }],
    });
    const page = await extension.open(`http://localhost:${port}/#/sessions/waiting`);
    await page.getByRole('button', { name: 'Allow once' }).waitFor();
    const tabId = await extension.tabOf(page);
    for (const [tool, input] of [
      ['extract_page_content', {}],
      ['get_selected_text', {}],
      ['scroll_to_element', { selector: '.approval' }],
      ['dom_manipulation', { action: 'click', selector: '.approval .button-primary' }],
      ['tab_management', { action: 'close', tabId }],
    ] as const)
      expect(textOf(await call(tool, input))).toContain('belongs to the Parlance server itself');
    expect(textOf(await call('tab_management', { action: 'list' }))).not.toContain('waiting');

    // A site that redirects there, and the console of a server whose address the extension does not know.
    const redirected = textOf(await call('extract_page_content', { url: `${site.http}/to?${server.http}/` }));
    expect(redirected).toContain('belongs to the Parlance server itself');
    const console = await extension.open(`${site.http}/console`);
    expect(textOf(await call('dom_manipulation', { action: 'click', selector: 'button' }))).toContain(
      'is the console of a Parlance server',
    );
    expect(await console.locator('output').textContent()).toBe('');

    await page.bringToFront();
    expect(existsSync(join(server.root, 'approved-by-itself.txt'))).toBe(false);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await until(() => existsSync(join(server.root, 'approved-by-itself.txt')));

    // Another port of this machine is another site.
    const shop = await extension.open(`${site.http}/shop`);
    expect(textOf(await call('extract_page_content', { selector: 'h1' }))).toContain('Checkout');
    await worker.evaluate(`chrome.storage.local.set({ sites: {} })`);
    await Promise.all([page.close(), console.close(), shop.close()]);
  });

  test('the emergency stop refuses running calls and turns the tools off', async () => {
    const page = await extension.open(site.http.replace('127.0.0.1', 'localhost'));
    const panel = await extension.panel(page);
    await page.bringToFront();
    const reading = call('extract_page_content', {});
    await panel.getByRole('article', { name: 'Site permission' }).waitFor();
    await press(panel, 'Stop all');
    expect(textOf(await reading)).toContain('stopped');
    expect(textOf(await call('get_selected_text', {}))).toContain('No browser extension client available');
    await press(panel, 'Settings');
    await panel.getByLabel(/^Agents in the terminal/).check();
    await Promise.all([panel.close(), page.close()]);
  });
});
