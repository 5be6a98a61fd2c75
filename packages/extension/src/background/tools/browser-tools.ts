/** What agents in other clients can do in this browser. */
import type { PageTool } from '../../messages.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteOf } from '../../shared/sites.ts';
import { askPage, ensureScripts } from '../tabs/content.ts';
import { loaded } from '../tabs/loading.ts';
import { settle } from '../tabs/page.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** Where a tool works. `site` is the origin that needs a permission; null if it touches no site. */
export type ToolTarget = { readonly tab: number | null; readonly site: string | null };

export type BrowserTool = {
  readonly describe: (parameters: Parameters) => string;
  readonly target: (parameters: Parameters) => Promise<ToolTarget>;
  /** the tool of the content script, which knows what always asks */
  readonly page?: PageTool;
  readonly run: (target: ToolTarget, parameters: Parameters, mayShow: MayShow) => Promise<unknown>;
};

/** Whether a tab may be shown to agents without a question. */
export type MayShow = (address: string | undefined) => Promise<boolean>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The tab that the person looks at: not the panel, where it is open as a tab. */
export async function currentTab(): Promise<chrome.tabs.Tab | null> {
  const [active] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  if (active && siteOf(active.url) !== null) return active;
  const tabs = (await chrome.tabs.query({})).filter(({ url }) => siteOf(url) !== null);
  return tabs.sort((one, other) => (other.lastAccessed ?? 0) - (one.lastAccessed ?? 0))[0] ?? null;
}

async function currentPage(): Promise<ToolTarget> {
  const tab = await currentTab();
  if (tab?.id === undefined) throw new Error('No website is open in the browser.');
  return { tab: tab.id, site: siteOf(tab.url) };
}

const pageTool = (page: PageTool, describe: BrowserTool['describe']): BrowserTool => ({
  describe,
  target: currentPage,
  page,
  async run({ tab }, parameters) {
    if (tab === null) throw new Error('No website is open in the browser.');
    await ensureScripts(tab);
    const result = await askPage(tab, { kind: 'tool', tool: page, parameters });
    if (page === 'dom_manipulation') await settle(tab).catch(() => null);
    return result;
  },
});

/** Opens the address in a tab of its own for the time of reading. */
const extract: BrowserTool = {
  ...pageTool('extract_page_content', ({ url }) => (url ? `Read ${text(url)}` : 'Read the page')),
  target: ({ url }) =>
    url === undefined ? currentPage() : Promise.resolve({ tab: null, site: siteOf(text(url)) }),
  async run({ tab }, { url, ...parameters }) {
    const id = tab ?? (await chrome.tabs.create({ url: text(url), active: false })).id;
    if (id === undefined) throw new Error('The tab was not opened.');
    try {
      await loaded(id, 8_000);
      await ensureScripts(id);
      await settle(id);
      return await askPage(id, { kind: 'tool', tool: 'extract_page_content', parameters });
    } finally {
      if (tab === null) await chrome.tabs.remove(id).catch(() => undefined);
    }
  },
};

const openUrl: BrowserTool = {
  describe: ({ url }) => `Open ${text(url)}`,
  target: async ({ url, newTab }) => ({
    tab: newTab === false ? ((await currentTab())?.id ?? null) : null,
    site: siteOf(text(url)),
  }),
  async run({ tab, site }, { url }) {
    if (site === null) throw new Error('Only http and https addresses can be opened.');
    const shown =
      tab === null
        ? await chrome.tabs.create({ url: text(url) })
        : await chrome.tabs.update(tab, { url: text(url) });
    if (shown?.id === undefined) throw new Error('The tab was not opened.');
    const { title, url: address } = await loaded(shown.id, 30_000);
    // A redirect of the site leads there.
    if (await isOwnServer(address)) throw new Error(OWN_SERVER);
    return { tabId: shown.id, title, url: address };
  },
};

const tabManagement: BrowserTool = {
  describe: ({ action, tabId, url }) => `Tabs: ${text(action)} ${text(url) || (tabId ?? '')}`.trim(),
  async target({ action, tabId, url }) {
    if (action === 'create') return { tab: null, site: siteOf(text(url)) };
    if (typeof tabId !== 'number') return { tab: null, site: null };
    const tab = await chrome.tabs.get(tabId).catch(() => null);
    if (!tab) throw new Error(`There is no tab ${tabId}.`);
    return { tab: tabId, site: siteOf(tab.url) };
  },
  async run({ tab, site }, { action, url }, mayShow) {
    if (action === 'create') return openUrl.run({ tab: null, site }, { url }, mayShow);
    if (action === 'list') return listed(mayShow);
    if (tab === null) throw new Error('tabId is needed.');
    if (action === 'close') await chrome.tabs.remove(tab);
    else await chrome.tabs.update(tab, { active: true });
    return { tabId: tab, done: true };
  },
};

/** Tabs on sites that the person has not allowed are counted and not named. */
async function listed(mayShow: MayShow): Promise<object> {
  const tabs: object[] = [];
  let hidden = 0;
  for (const { id, title, url, active } of await chrome.tabs.query({}))
    if (await mayShow(url)) tabs.push({ tabId: id, title, url, active });
    else hidden++;
  return { tabs, hidden };
}

export const BROWSER_TOOLS: Readonly<Record<string, BrowserTool>> = {
  extract_page_content: extract,
  open_url: openUrl,
  get_selected_text: pageTool('get_selected_text', () => 'Read the selected text'),
  scroll_to_element: pageTool('scroll_to_element', ({ selector }) => `Scroll to ${text(selector)}`),
  dom_manipulation: pageTool(
    'dom_manipulation',
    ({ action, selector, value }) =>
      `${text(action)} ${text(selector)}${value === undefined ? '' : ` with “${text(value)}”`}`,
  ),
  tab_management: tabManagement,
};
