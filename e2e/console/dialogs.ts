/** Dialogs, menus and sections of the console that are not pages of their own, to be opened one after the other in one tab. */
import type { Page } from 'playwright-core';
import { pickOption, signInAs, visible } from './console.ts';
import type { Shown } from './pages.ts';

const dialog = (page: Page) => page.getByRole('dialog');

/** From the menu of a session. */
const ofSession = (item: string): Shown => ({
  name: `${item} of a session`,
  path: '/sessions/rebase',
  async ready(page) {
    await page.locator('.session-row[data-chosen]').hover();
    await page.locator('.session-row[data-chosen] .menu > button').click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
    await visible(dialog(page));
  },
});

const section = (name: string, heading: string, button?: string): Shown => ({
  name: button ?? `section ${name}`,
  path: `/admin?section=${name}`,
  async ready(page) {
    await signInAs(page, 'ada');
    await visible(page.getByRole('heading', { name: heading, exact: true }));
    if (button === undefined) return;
    await page.getByRole('button', { name: button }).first().click();
    await visible(dialog(page));
  },
});

export const DIALOGS: readonly Shown[] = [
  ...['Rename', 'Tags', 'Export', 'Share', 'Delete'].map(ofSession),
  {
    name: 'keys',
    path: '/approvals',
    async ready(page) {
      await visible(page.getByRole('heading', { name: 'Approvals' }));
      await page.keyboard.press('?');
      await visible(dialog(page));
    },
  },
  {
    name: 'full-auto',
    path: '/',
    async ready(page) {
      await pickOption(page, 'Approval mode', 'Full access');
      await visible(dialog(page));
    },
  },
  {
    name: 'agents',
    path: '/',
    async ready(page) {
      await page.getByRole('button', { name: /^Agent:/ }).click();
      await visible(page.getByRole('menu', { name: 'Agent' }));
    },
  },
  {
    name: 'models',
    path: '/',
    async ready(page) {
      await page.getByRole('button', { name: /^Model:/ }).click();
      await visible(dialog(page));
    },
  },
  {
    name: 'slash commands',
    path: '/',
    async ready(page) {
      await page.getByRole('textbox', { name: 'Message' }).fill('/');
      await visible(page.locator('.slash-choice').first());
    },
  },
  {
    name: 'save frame',
    path: '/playground?session=saved&left=agentloop&right=none',
    async ready(page) {
      await page.getByRole('button', { name: 'Save …' }).click();
      await visible(dialog(page));
    },
  },
  {
    name: 'deleted file',
    path: '/sessions/deleted',
    ready: (page) => visible(page.locator('.approval .patch-removed .patch-number').first()),
  },
  {
    name: 'search',
    path: '/sessions/rebase',
    async ready(page) {
      await page.getByRole('searchbox', { name: 'Search titles and messages' }).fill('rebase');
      await visible(page.getByRole('region', { name: 'Messages' }).getByRole('link').first());
    },
  },
  {
    name: 'sessions to choose from',
    path: '/timeline',
    ready: (page) => visible(page.locator('#main a').first()),
  },
  section('model', 'Model'),
  {
    name: 'fields of a model server',
    path: '/admin?section=model',
    async ready(page) {
      await signInAs(page, 'ada');
      await page.getByRole('radio', { name: 'OpenAI-compatible server' }).check();
      await visible(page.getByLabel('Address'));
    },
  },
  section('mcp', 'MCP servers'),
  section('origins', 'Browser origins'),
  section('prices', 'Prices'),
  section('listeners', 'Listeners'),
  section('grants', 'Standing grants'),
  section('usage', 'Usage'),
  section('limits', 'Spend limits'),
  section('limits', 'Spend limits', 'Add limit'),
  {
    name: 'limit of a session',
    path: '/sessions/rebase',
    async ready(page) {
      await page.getByRole('button', { name: 'Set limit' }).click();
      await visible(dialog(page));
    },
  },
  section('instructions', 'Project instructions'),
  section('skills', 'Skills', 'Add skill'),
  section('agents', 'Agents', 'New agent'),
  section('agents', 'Agents', 'New domain'),
  section('mcp', 'MCP servers', 'Add server'),
  section('users', 'Users', 'Add user'),
  section('users', 'Users', 'Invite'),
  section('account', 'Your account', 'Sign out everywhere'),
  section('keys', 'API keys', 'New key'),
];
