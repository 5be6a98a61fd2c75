/** API keys in the console: created, shown once, used and revoked; admins see those of all users. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, chooseOption, openConsole, removed, visible } from './console.ts';

let app: Console;

async function openKeys(name: string): Promise<Page> {
  const page = await app.open('/admin?section=keys');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(`${name}-password`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('heading', { name: 'API keys', exact: true }));
  return page;
}

async function makeKey(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create key' }).click();
  await visible(page.getByText(`Copy the key for ${name} now.`));
  return String(await page.locator('.key-text code').textContent());
}

const statusWith = async (key: string) =>
  (await fetch(`${app.server.http}/v1/server`, { headers: { 'x-api-key': key } })).status;

/** Browsers log every unsuccessful response: the one before the login is expected. */
const problems = () => app.problems().filter((problem) => !/status of 401/.test(problem));

describe.skipIf(NO_BROWSER)('API keys', () => {
  beforeAll(async () => {
    app = await openConsole({ PARLANCE_AUTH: 'required' });
  });
  afterAll(() => app?.stop());

  test('a key is created with a role of the user, shown once, and revoked', async () => {
    const page = await openKeys('dev');
    await visible(page.getByText('No API keys'));
    await page.getByRole('button', { name: 'New key' }).click();
    expect(await page.getByLabel('Role').locator('option').allTextContents()).toEqual([
      'user: chat only, cannot approve',
      'developer: full access to own sessions',
    ]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    const key = await makeKey(page, 'laptop');
    expect(await statusWith(key)).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await removed(page.locator('.key-text'));
    await page.reload();
    await visible(page.getByRole('listitem').filter({ hasText: 'laptop' }));
    expect(await page.locator('body').textContent()).not.toContain(key.slice(-43));
    await page.getByRole('button', { name: 'Revoke laptop' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
    await visible(page.getByText('No API keys'));
    expect(await statusWith(key)).toBe(401);
    expect(problems()).toEqual([]);
    await page.context().close();
  });

  test('an admin can give a key the scope administration, which is shown in red', async () => {
    const page = await openKeys('ada');
    await page.getByRole('button', { name: 'New key' }).click();
    const scope = page.getByLabel(/Administration:/);
    expect(await scope.count()).toBe(0);
    await chooseOption(page.getByLabel('Role'), 'admin');
    await scope.check();
    expect(await page.locator('.notice-danger').filter({ has: scope }).count()).toBe(1);
    await page.getByLabel('Name').fill('terraform');
    await page.getByRole('button', { name: 'Create key' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'terraform' });
    await visible(row.locator('.chip-bad').getByText('administration', { exact: true }));
    await page.getByRole('button', { name: 'Done' }).click();
    await makeKey(page, 'plain');
    const plain = page.getByRole('listitem').filter({ hasText: 'plain' });
    await visible(plain);
    expect(await plain.getByText('administration').count()).toBe(0);
    for (const name of ['terraform', 'plain']) {
      await page.getByRole('button', { name: `Revoke ${name}` }).click();
      await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
      await removed(page.getByRole('button', { name: `Revoke ${name}` }));
    }
    expect(problems()).toEqual([]);
    await page.context().close();
  });

  test('an admin sees and revokes the keys of others; others see only their own', async () => {
    const own = await openKeys('uma');
    const key = await makeKey(own, 'phone');
    expect(await own.getByLabel('Show', { exact: true }).count()).toBe(0);
    const page = await openKeys('ada');
    await visible(page.getByText('No API keys'));
    await chooseOption(page.getByLabel('Show', { exact: true }), 'all');
    await visible(page.getByRole('listitem').filter({ hasText: 'phone' }).getByText('uma'));
    await page.getByRole('button', { name: 'Revoke phone' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click();
    await visible(page.getByText('No API keys'));
    expect(await statusWith(key)).toBe(401);
    expect(problems()).toEqual([]);
    for (const one of [own, page]) await one.context().close();
  });
});
