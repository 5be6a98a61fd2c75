/** MCP servers in the console: signing in, prompts and resources. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { EVERYTHING } from '../../packages/server/src/testing/tools/mcp.ts';
import { type OAuthServer, oauthServer } from '../../packages/server/src/testing/tools/oauth-server.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

const CHANGING = join(import.meta.dir, '../../packages/server/src/testing/tools/mcp-changing-server.ts');
const folder = mkdtempSync(join(tmpdir(), 'parlance-console-mcp-'));
let tickets: OAuthServer;
let notes: OAuthServer;
let app: Console;
let page: Page;

describe.skipIf(NO_BROWSER)('MCP servers', () => {
  beforeAll(async () => {
    [tickets, notes] = [oauthServer(), oauthServer()];
    const config = join(folder, 'parlance.json');
    const definition = { name: 'look', inputSchema: { type: 'object' } };
    writeFileSync(join(folder, 'definition.json'), JSON.stringify(definition));
    const mcpServers = {
      tickets: { url: tickets.url },
      notes: { url: notes.url, signIn: 'user' },
      ref: { command: 'node', args: [EVERYTHING] },
      changing: { command: process.execPath, args: [CHANGING], cwd: folder },
    };
    writeFileSync(config, JSON.stringify({ mcpServers }));
    app = await openConsole({ PARLANCE_CONFIG: config });
    page = await app.open('/admin?section=mcp');
  });
  afterAll(async () => {
    await app?.stop();
    for (const one of [tickets, notes]) one?.[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  const servers = () => page.getByRole('list', { name: 'MCP servers' });

  test('are signed in to under Admin: the address is shown, and the browser is led there and back', async () => {
    const card = servers().getByRole('listitem').filter({ hasText: 'tickets' });
    await visible(card.getByText('needs a sign-in'));
    await card.getByRole('button', { name: 'Sign in to tickets' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in to tickets' });
    await visible(dialog.getByText(`${tickets.issuer}/authorize?`));
    await dialog.getByRole('button', { name: `Continue to ${new URL(tickets.issuer).host}` }).click();
    await visible(page.getByText('Signed in to tickets'));
    await page.goto(`${app.server.http}/#/admin?section=mcp`);
    await visible(card.getByText('ready'));
    await card.getByRole('button', { name: 'Sign out' }).click();
    await visible(card.getByText('needs a sign-in'));
  });

  test('of each user are signed in to under Settings', async () => {
    await page.goto(`${app.server.http}/#/settings`);
    await servers().getByRole('button', { name: 'Sign in to notes' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Continue to/ })
      .click();
    await visible(page.getByText('Signed in to notes'));
    await page.goto(`${app.server.http}/#/settings`);
    await visible(servers().getByRole('button', { name: 'Sign out' }));
  });

  test('a link that was used says so', async () => {
    await page.goto(`${app.server.http}/#/signed-in?code=a&state=b`);
    await visible(page.getByText('This sign-in is not known or has expired: begin again.'));
    expect(app.problems()).toEqual([expect.stringContaining('404')]);
  });

  test('that change their prompts are followed while the list is open', async () => {
    await page.goto(`${app.server.http}/#/`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/');
    await visible(page.getByRole('option', { name: /^\/ref:/ }).first());
    expect(await page.getByRole('option', { name: /^\/changing:/ }).count()).toBe(0);
    writeFileSync(join(folder, 'prompts.json'), JSON.stringify([{ name: 'fresh' }]));
    await visible(page.getByRole('option', { name: /^\/changing:fresh/ }));
    await field.fill('');
  });

  test('offer prompts as commands, whose text is shown before it is sent, and resources to attach', async () => {
    await page.goto(`${app.server.http}/#/`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('/ref:args');
    await visible(page.getByRole('option', { name: /^\/ref:args-prompt/ }));
    await field.fill('/ref:args-prompt city=Oslo state="the north"');
    await field.press('Enter');
    await page.waitForFunction("document.querySelector('textarea').value.includes('Oslo')");
    expect(await field.inputValue()).toContain('the north');
    await field.fill('/attach ');
    await page.getByRole('listbox', { name: 'Commands' }).getByRole('option').first().click();
    const attached = page.getByRole('list', { name: 'Attached files' });
    await visible(attached);
    await attached.getByRole('button', { name: /^Remove/ }).click();
    await removed(attached);
  });
});
