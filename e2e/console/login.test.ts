/** Login and logout, if a login is required. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, submitInput, visible } from './console.ts';

let app: Console;

async function logIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Browsers log every unsuccessful response: that of a refusal is expected. */
const refusals = /status of 401/;

describe.skipIf(NO_BROWSER)('login', () => {
  beforeAll(async () => {
    app = await openConsole({ PARLANCE_AUTH: 'required' });
  });
  afterAll(() => app?.stop());

  test('a wrong password shows an error, the right one leads to the requested page', async () => {
    const token = await app.server.login('dev', 'dev-password');
    await submitInput({ http: app.server.http, token }, 'of-dev', 'what dev said');
    const page = await app.open('/sessions/of-dev');
    await visible(page.locator('input[name=name]:focus'));
    await visible(page.getByText('Ask your administrator for an account.'));
    await visible(page.getByText('parlance user password admin'));
    await logIn(page, 'dev', 'wrong');
    await visible(page.getByRole('alert'));
    expect(await page.getByRole('alert').textContent()).toBe('Wrong name or password.');
    await logIn(page, 'dev', 'dev-password');
    await openSidebar(page);
    await visible(page.locator('.account-name').getByText('dev', { exact: false }).first());
    await visible(page.getByRole('heading', { name: 'what dev said' }));

    // The sign-in is for the browser.
    await page.reload();
    await visible(page.getByRole('heading', { name: 'what dev said' }));
    await openSidebar(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visible(page.getByRole('heading', { name: 'Sign in to Parlance' }));
    expect(await page.getByText('what dev said').count()).toBe(0);
    await page.reload();
    await visible(page.getByRole('heading', { name: 'Sign in to Parlance' }));
    expect(app.problems().filter((problem) => !refusals.test(problem))).toEqual([]);
    await page.context().close();
  });

  test('if the sign-in has ended, the login is shown with the reason', async () => {
    const page = await app.open('/approvals');
    await logIn(page, 'dev', 'dev-password');
    await visible(page.getByRole('heading', { name: 'Approvals', exact: true }));
    const headers = { authorization: `Bearer ${await app.server.login('dev', 'dev-password')}` };
    await fetch(`${app.server.http}/v1/auth/sign-out-everywhere`, { method: 'POST', headers });
    await visible(page.getByText('You have been signed out. Sign in again.'));
    await logIn(page, 'dev', 'dev-password');
    await visible(page.getByRole('heading', { name: 'Approvals', exact: true }));
    expect(app.problems().filter((problem) => !refusals.test(problem))).toEqual([]);
    await page.context().close();
  });

  test('content of one user is not shown to the next in the same tab', async () => {
    const token = await app.server.login('dev', 'dev-password');
    await submitInput({ http: app.server.http, token }, 'secret', 'a secret of dev');
    const page = await app.open('/sessions/secret');
    await logIn(page, 'dev', 'dev-password');
    await visible(page.getByRole('heading', { name: 'a secret of dev' }));
    await openSidebar(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await logIn(page, 'uma', 'uma-password');
    await openSidebar(page);
    await visible(page.locator('.account-name').getByText('uma').first());
    expect(await page.getByText('a secret of dev').count()).toBe(0);
    await page.context().close();
  });
});
