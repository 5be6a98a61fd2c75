/** Actions that need an extension API: addresses, tabs, screenshots and code. */
import type { ActionOutcome, BackgroundAction } from '../../messages.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteOf } from '../../shared/sites.ts';
import { refuseOwnServer } from './content.ts';
import { begunToLoad, loaded } from './loading.ts';
import { captured } from './screenshot.ts';

export type BrowserOutcome = Omit<ActionOutcome, 'previousUrl'> & {
  /** the tab to continue with */
  readonly tab: number;
  readonly opened?: number;
  /** base64, for the field `screenshot` of the contract */
  readonly screenshot?: string;
};

export type TaskTabs = {
  /** whether the task may know of a tab */
  readonly visible: (tab: chrome.tabs.Tab) => Promise<boolean>;
  /** the tabs that it has opened */
  readonly opened: readonly number[];
};

const refused = (tab: number, message: string): BrowserOutcome => ({
  success: false,
  elementFound: true,
  error: { code: 'INVALID_VALUE', message },
  tab,
});

/** Throws if the browser refuses. */
export async function performInBrowser(
  tab: number,
  action: BackgroundAction,
  { visible, opened }: TaskTabs,
): Promise<BrowserOutcome> {
  const done = { success: true, elementFound: true, tab } as const;
  switch (action.name) {
    case 'navigate':
      return (await goTo(tab, action.url))
        ? done
        : refused(tab, 'Only http and https addresses can be opened.');
    case 'search':
      await begunToLoad(tab, () => chrome.search.query({ text: action.query, tabId: tab }));
      return done;
    case 'goBack':
      await begunToLoad(tab, () => travel(tab, -1));
      return done;
    case 'goForward':
      await begunToLoad(tab, () => travel(tab, 1));
      return done;
    case 'createTab': {
      if (siteOf(action.url) === null) return refused(tab, 'Only http and https addresses can be opened.');
      if (await isOwnServer(action.url)) return refused(tab, OWN_SERVER);
      const { id } = await chrome.tabs.create({ url: action.url, openerTabId: tab });
      return id === undefined ? refused(tab, 'The tab was not opened.') : { ...done, tab: id, opened: id };
    }
    case 'switch': {
      const other = await chrome.tabs.get(action.tabId).catch(() => null);
      if (!other || !(await visible(other))) return refused(tab, `There is no tab ${action.tabId}.`);
      await chrome.tabs.update(action.tabId, { active: true });
      return { ...done, tab: action.tabId };
    }
    case 'close':
      if (!opened.includes(action.tabId))
        return refused(tab, 'Only tabs that the task has opened can be closed.');
      return closeTab(tab, action.tabId);
    case 'getTabs':
      return { ...done, value: await listTabs(tab, visible) };
    case 'screenshot': {
      const { screenshot, width, height } = await captured(tab);
      return { ...done, value: { screenshot: `${width}×${height} pixels` }, screenshot };
    }
    case 'numberedScreenshot': {
      const { screenshot, width, height, numbers } = await captured(tab, { numbered: true });
      return { ...done, value: { screenshot: `${width}×${height} pixels`, numbers }, screenshot };
    }
    case 'evaluate':
      return { ...done, value: await evaluated(tab, action.code) };
    case 'finish':
    case 'fail':
      return done;
  }
}

/** The browser's own buttons skip pages that nobody has clicked in; the page's history does not. */
async function travel(tab: number, by: 1 | -1): Promise<void> {
  const target = { tabId: tab };
  const button = () => (by === 1 ? chrome.tabs.goForward(tab) : chrome.tabs.goBack(tab));
  await chrome.scripting
    .executeScript({ target, args: [by], func: (steps: number) => history.go(steps) })
    .catch(button);
}

async function goTo(tab: number, address: string): Promise<boolean> {
  const absolute = URL.parse(address, (await chrome.tabs.get(tab)).url)?.href;
  if (siteOf(absolute) === null) return false;
  if (await isOwnServer(absolute)) throw new Error(OWN_SERVER);
  await begunToLoad(tab, () => chrome.tabs.update(tab, { url: absolute }));
  await loaded(tab);
  return true;
}

async function closeTab(tab: number, closed: number): Promise<BrowserOutcome> {
  const other = await chrome.tabs.get(closed).catch(() => null);
  if (!other) return refused(tab, `There is no tab ${closed}.`);
  await chrome.tabs.remove(closed);
  if (closed !== tab) return { success: true, elementFound: true, tab };
  const { openerTabId, windowId } = other;
  const next = openerTabId ?? (await chrome.tabs.query({ active: true, windowId }))[0]?.id;
  if (next === undefined) return refused(tab, 'There is no other tab to continue with.');
  await chrome.tabs.update(next, { active: true });
  return { success: true, elementFound: true, tab: next };
}

async function listTabs(current: number, visible: TaskTabs['visible']): Promise<object[]> {
  const { windowId } = await chrome.tabs.get(current);
  const tabs: object[] = [];
  for (const tab of await chrome.tabs.query({ windowId }))
    if (await visible(tab))
      tabs.push({ tabId: tab.id, title: tab.title, url: tab.url, current: tab.id === current });
  return tabs;
}

/** In the world of the page, whose own policy decides whether it may run. */
async function evaluated(tab: number, code: string): Promise<unknown> {
  await refuseOwnServer(tab);
  const [result] = await chrome.scripting.executeScript({
    target: { tabId: tab },
    world: 'MAIN',
    args: [code],
    func: async (source: string) => {
      try {
        // Called by another name, it sees the globals of the page and nothing of this function.
        const evaluate: (code: string) => unknown = Reflect.get(globalThis, 'eval');
        return { value: JSON.stringify(await evaluate(source)) ?? 'undefined' };
      } catch (thrown) {
        return { error: String(thrown) };
      }
    },
  });
  const { value, error } = result?.result ?? {};
  if (error !== undefined) throw new Error(`The code failed: ${error}`);
  return value;
}
