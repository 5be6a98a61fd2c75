/** Pages and buttons that a role may not use are hidden; everyone sees prices that an admin sets. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, removed, submitInput, visible } from './console.ts';

let app: Console;

async function fillIn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(`${name}-password`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await removed(page.getByRole('heading', { name: 'Sign in to Parlance' }));
}

async function as(name: string): Promise<Page> {
  const page = await app.open('/login');
  await fillIn(page, name);
  await page.goto(`${app.server.http}/#/`);
  return page;
}

const linksOf = async (page: Page): Promise<string[]> => {
  await openSidebar(page);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await visible(links.first());
  await page.getByRole('button', { name: 'Developer' }).click();
  await visible(page.getByRole('link', { name: 'Timeline' }).first());
  return links.allInnerTexts();
};

describe.skipIf(NO_BROWSER)('roles', () => {
  beforeAll(async () => {
    app = await openConsole();
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a user sees no pages, sections or buttons for other roles', async () => {
    const page = await as('uma');
    expect(await linksOf(page)).toEqual(['Account', 'Settings', 'Guide', 'Timeline']);
    await page.goto(`${app.server.http}/#/admin`);
    await visible(page.getByRole('heading', { name: 'Account' }));
    const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    expect(await sections.allInnerTexts()).toEqual(['Usage', 'Spend limits', 'API keys', 'Your account']);
    const token = await app.server.login('uma', 'uma-password');
    await submitInput({ http: app.server.http, token }, 'asks', 'run touch forbidden.txt');
    await page.goto(`${app.server.http}/#/sessions/asks`);
    await visible(page.getByText('A developer or an admin can answer this.'));
    expect(await page.getByRole('button', { name: /Allow once/ }).count()).toBe(0);
    await visible(page.getByRole('button', { name: /^Agent:/ }));
    expect(await page.getByRole('button', { name: /^Approval mode:/ }).count()).toBe(0);
    await page.context().close();
  });

  test('addresses, links and commands of pages for other roles lead nowhere', async () => {
    const page = await as('uma');
    for (const path of ['/approvals', '/playground']) {
      await page.goto(`${app.server.http}/#${path}`);
      await visible(page.getByRole('heading', { name: 'You do not have access' }));
    }
    const token = await app.server.login('uma', 'uma-password');
    await submitInput({ http: app.server.http, token }, 'followed', 'hello');
    await page.goto(`${app.server.http}/#/timeline/followed`);
    await visible(page.getByRole('heading', { name: 'Timeline: hello' }));
    expect(await page.locator('#main').getByRole('link', { name: 'Playground' }).count()).toBe(0);
    await page.goto(`${app.server.http}/#/welcome`);
    await visible(page.getByRole('heading', { name: '3. Clients' }));
    expect(
      await page
        .locator('#main')
        .getByRole('link', { name: /playground|connect a model/i })
        .count(),
    ).toBe(0);
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await visible(palette.getByRole('option', { name: /Timeline/ }).first());
    expect(await palette.getByRole('option', { name: /Approvals|Playground|Admin/ }).count()).toBe(0);
    await page.context().close();
  });

  test('a developer approves and plays, and sees no section that only admins use', async () => {
    const page = await as('dev');
    expect(await linksOf(page)).toEqual([
      'Approvals',
      'Admin',
      'Settings',
      'Guide',
      'Timeline',
      'Playground',
      'Connections',
    ]);
    await page.goto(`${app.server.http}/#/admin`);
    const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    await visible(sections.first());
    expect(await sections.allInnerTexts()).toEqual([
      'Usage',
      'Spend limits',
      'MCP servers',
      'Standing grants',
      'Project instructions',
      'API keys',
      'Your account',
      'Metrics',
    ]);
    await page.goto(`${app.server.http}/#/admin?section=users`);
    await visible(page.getByRole('heading', { name: 'You do not have access' }));
    await page.goto(`${app.server.http}/#/admin?section=listeners`);
    await visible(page.getByRole('list', { name: 'Listeners' }));
    expect(await page.getByRole('button', { name: 'Add listener' }).count()).toBe(0);
    await page.context().close();
  });

  test('in open mode, only what needs no login is shown', async () => {
    const page = await app.open('/admin');
    const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    await visible(sections.first());
    const names = await sections.allInnerTexts();
    expect(names).toEqual([
      'Model',
      'Usage',
      'Spend limits',
      'Agents',
      'MCP servers',
      'Standing grants',
      'Project instructions',
      'Skills',
      'Metrics',
    ]);
    expect(await sections.first().getAttribute('aria-current')).toBe('page');
    for (const name of names) {
      await sections.filter({ hasText: name }).click();
      await visible(page.getByRole('heading', { name, level: 2, exact: true }));
      await removed(page.locator('.admin-section[aria-busy=true]'));
      expect([name, await page.getByRole('heading', { name: /Sign in|access/ }).count()]).toEqual([name, 0]);
      expect(await page.getByRole('button', { name: 'Add listener' }).count()).toBe(0);
      // As with models: the console of this machine may set them up.
      expect(await page.getByRole('button', { name: 'Add server' }).count()).toBe(
        name === 'MCP servers' ? 1 : 0,
      );
    }
    await page.keyboard.press('Control+k');
    await visible(page.getByRole('option', { name: 'Sign in' }));
    await page.context().close();
  });

  test('signing in leads back to the page that was asked for', async () => {
    const page = await app.open('/admin?section=users');
    await visible(page.getByRole('heading', { name: 'Sign in to open this page' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.locator('#main').getByRole('link', { name: 'Sign in' }).click();
    await fillIn(page, 'ada');
    await visible(page.getByRole('heading', { name: 'Users', level: 2 }));
    expect(new URL(page.url()).hash).toBe('#/admin?section=users');
    await page.context().close();

    const hostile = await app.open('/login?back=//example.com/%23/admin');
    await fillIn(hostile, 'ada');
    await visible(hostile.getByRole('heading', { name: 'What can I do for you?' }));
    expect(hostile.url()).toBe(`${app.server.http}/#/`);
    await hostile.context().close();
  });

  test('an admin sets a price, and the chat shows the cost of turn and session', async () => {
    const page = await as('ada');
    expect(await linksOf(page)).toContain('Admin');
    await page.goto(`${app.server.http}/#/admin?section=prices`);
    await page.getByRole('button', { name: 'Edit price of offline' }).click();
    await page.getByLabel('Input', { exact: true }).fill('1000');
    await page.getByLabel('Output', { exact: true }).fill('2000');
    await page.getByRole('button', { name: 'Save' }).click();
    await visible(page.getByRole('cell', { name: '2000' }));
    await prepare(page);
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.context().close();

    const other = await app.open('/');
    await submitInput(app.server, 'priced', 'count to 5');
    await other.goto(`${app.server.http}/#/sessions/priced`);
    const tokensAndCost = /^\d\S* tokens in, \d\S* out · \$\d/;
    await visible(other.locator('.turn-end').getByText(tokensAndCost));
    await visible(other.locator('.totals').getByText(tokensAndCost));
    // The price of the admin is for everyone.
    expect(await other.getByRole('button', { name: tokensAndCost }).count()).toBe(0);
    await other.context().close();
  });
});
