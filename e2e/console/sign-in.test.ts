/** What a sign-in of the browser survives, what ends it, and invitations. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, openConsole, openSidebar, removed, visible } from './console.ts';
import { SIZES, THEMES } from './screen.ts';

let app: Console;
/** Browsers log every unsuccessful response: that of a refusal is expected. */
const refusals = /status of 40[134]/;

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(composer(page));
}

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const signInForm = (page: Page) => page.getByRole('heading', { name: 'Sign in to Parlance' });

/** Opens a section of the administration. */
const openSection = async (page: Page, name: string, heading: string): Promise<void> => {
  await page.goto(`${new URL(page.url()).origin}/#/admin?section=${name}`);
  await visible(page.getByRole('heading', { name: heading, exact: true }));
};

async function addUser(name: string): Promise<void> {
  const authorization = `Bearer ${await app.server.login('ada', 'ada-password')}`;
  await fetch(`${app.server.http}/v1/admin/users`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name, password: `${name}-password`, role: 'developer' }),
  });
}

describe.skipIf(NO_BROWSER)('a sign-in', () => {
  beforeAll(async () => {
    app = await openConsole({ PARLANCE_AUTH: 'required' });
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems().filter((problem) => !refusals.test(problem))).toEqual([]));

  test('holds for all tabs at once, and so does signing out', async () => {
    const one = await app.open('/');
    const other = await app.openBeside(one, '/');
    await visible(signInForm(other));
    await signIn(one, 'dev', 'dev-password');
    await visible(composer(other));
    const third = await app.openBeside(one, '/settings');
    await visible(third.getByRole('heading', { name: 'Settings', exact: true }));
    await openSidebar(other);
    await other.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [one, other, third]) await visible(signInForm(page));
    await one.context().close();
  });

  test('survives a restart of the browser, and no page can read its cookie', async () => {
    const page = await app.open('/');
    await signIn(page, 'dev', 'dev-password');
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    const stored = await page.context().storageState();
    const [cookie] = stored.cookies;
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    // Not a cookie of the session, which ends with the browser.
    expect(Number(cookie?.expires) * 1_000).toBeGreaterThan(Date.now() + 29 * 24 * 3_600_000);
    await page.context().close();
    const again = await app.open('/', { storageState: stored });
    await visible(composer(again));
    await again.context().close();
    const without = await app.open('/', { storageState: { ...stored, origins: [] } });
    await visible(signInForm(without));
    await without.context().close();
  });

  test('ends in every browser with “Sign out everywhere”', async () => {
    await addUser('everywhere');
    const [one, other] = [await app.open('/'), await app.open('/')];
    for (const page of [one, other]) await signIn(page, 'everywhere', 'everywhere-password');
    await openSection(one, 'account', 'Your account');
    await one.getByRole('button', { name: 'Sign out everywhere' }).click();
    await one.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await visible(signInForm(one));
    await visible(signInForm(other));
    await visible(other.getByText('You have been signed out. Sign in again.'));
    for (const page of [one, other]) await page.context().close();
  });

  test('ends elsewhere with a new password, and stays in the browser that has changed it', async () => {
    await addUser('changes');
    const [one, other] = [await app.open('/'), await app.open('/')];
    for (const page of [one, other]) await signIn(page, 'changes', 'changes-password');
    await openSection(one, 'account', 'Your account');
    await one.getByLabel('Old password').fill('changes-password');
    await one.getByLabel('New password', { exact: true }).fill('another password');
    await one.getByLabel('Repeat new password').fill('another password');
    await one.getByRole('button', { name: 'Change password' }).click();
    await visible(one.getByText('Password changed.'));
    await visible(signInForm(other));
    await one.reload();
    await visible(one.getByRole('heading', { name: 'Your account' }));
    await signIn(other, 'changes', 'another password');
    for (const page of [one, other]) await page.context().close();
  });

  test('lets the playground connect, until it ends', async () => {
    const page = await app.open('/');
    await signIn(page, 'ada', 'ada-password');
    await page.goto(`${app.server.http}/#/playground?session=signed-in&left=agentloop&right=none`);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await visible(page.getByText(/^connected as/));
    const other = await app.openBeside(page, '/');
    await openSidebar(other);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await visible(signInForm(page));
    await page.context().close();
  });

  test('an invited person chooses a password and is signed in; the link works once', async () => {
    const admin = await app.open('/');
    await signIn(admin, 'ada', 'ada-password');
    await openSection(admin, 'users', 'Users');
    await admin.getByRole('button', { name: 'Invite' }).click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByLabel('Name').fill('grace');
    await dialog.getByLabel('Role').selectOption('developer');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = String(await admin.locator('.key-text code').textContent());
    expect(link).toStartWith(`${app.server.http}/#/invitation?token=pli_`);
    await visible(admin.getByRole('list', { name: 'Invitations' }).getByText('invited by ada'));

    const page = await app.open('/');
    await visible(signInForm(page));
    await page.goto(link);
    await visible(page.getByRole('heading', { name: 'Welcome, grace' }));
    await prepare(page);
    if (process.env.PICTURES) await pictures(page, 'invitation');
    expect(await accessibilityProblems(page, 'all')).toEqual([]);
    await page.getByLabel('Password', { exact: true }).fill('grace-password');
    await page.getByLabel('Repeat password').fill('not-the-same');
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await visible(page.getByText('The passwords do not match.'));
    await page.getByLabel('Repeat password').fill('grace-password');
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await visible(composer(page));
    await openSidebar(page);
    await visible(page.locator('.account-name').getByText('grace').first());

    await page.goto(link);
    await visible(page.getByText('The invitation was used or revoked, or has expired.'));
    await admin.reload();
    await visible(admin.getByRole('list', { name: 'Users' }).getByText('grace', { exact: true }));
    await removed(admin.getByRole('list', { name: 'Invitations' }));
    if (process.env.PICTURES) {
      await admin.getByRole('button', { name: 'Invite' }).click();
      await admin.getByRole('dialog').getByLabel('Name').fill('alan');
      await admin.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
      await visible(admin.locator('.key-text code'));
      await pictures(admin, 'users');
      await openSection(admin, 'account', 'Your account');
      await pictures(admin, 'account');
    }
    for (const one of [page, admin]) await one.context().close();
  });
});

async function pictures(page: Page, name: string): Promise<void> {
  const folder = String(process.env.PICTURES);
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const viewport of [...SIZES, { width: 2_560, height: 1_440 }])
    for (const colorScheme of THEMES) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${name}-${viewport.width}-${colorScheme}.png` });
    }
  if (before) await page.setViewportSize(before);
}
