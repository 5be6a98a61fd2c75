/** Pages and buttons that a role may not use are hidden; everyone sees prices that an admin sets. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { barriers, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, gone, openConsole, openSidebar, say, seen } from './console.ts';

let place: Console;

async function as(name: string): Promise<Page> {
  const page = await place.open('/login');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(`${name}-password`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await gone(page.getByRole('heading', { name: 'Sign in to Parlance' }));
  await page.goto(`${place.server.http}/#/`);
  return page;
}

const linksOf = async (page: Page): Promise<string[]> => {
  await openSidebar(page);
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  await seen(links.first());
  return links.allInnerTexts();
};

describe.skipIf(NO_BROWSER)('roles', () => {
  beforeAll(async () => {
    place = await openConsole();
  });
  afterAll(() => place?.stop());
  afterEach(() => expect(place.problems()).toEqual([]));

  test('a user sees no pages, sections or buttons for other roles', async () => {
    const page = await as('uma');
    expect(await linksOf(page)).toEqual(['Timeline', 'Account', 'Settings', 'Guide']);
    await page.goto(`${place.server.http}/#/admin`);
    await seen(page.getByRole('heading', { name: 'Account' }));
    const sections = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
    expect(await sections.allInnerTexts()).toEqual(['API keys', 'Your login']);
    const token = await place.server.login('uma', 'uma-password');
    await say({ http: place.server.http, token }, 'asks', 'run touch forbidden.txt');
    await page.goto(`${place.server.http}/#/sessions/asks`);
    await seen(page.getByText('A developer or an admin can answer this.'));
    expect(await page.getByRole('button', { name: /Allow once/ }).count()).toBe(0);
    await page.context().close();
  });

  test('an admin sets a price, and the chat shows the cost of turn and session', async () => {
    const page = await as('ada');
    expect(await linksOf(page)).toContain('Admin');
    await page.goto(`${place.server.http}/#/admin?section=prices`);
    await page.getByRole('button', { name: 'Edit price of offline' }).click();
    await page.getByLabel('Input', { exact: true }).fill('1000');
    await page.getByLabel('Output', { exact: true }).fill('2000');
    await page.getByRole('button', { name: 'Save' }).click();
    await seen(page.getByRole('cell', { name: '2000' }));
    await prepare(page);
    expect(await barriers(page, 'all')).toEqual([]);
    await page.context().close();

    const other = await place.open('/');
    await say(place.server, 'priced', 'count to 5');
    await other.goto(`${place.server.http}/#/sessions/priced`);
    await seen(other.locator('.turn-end').getByText(/\$\d/));
    await seen(other.locator('.totals').getByText(/\$\d/));
    await other.context().close();
  });
});
