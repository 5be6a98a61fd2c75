/** Carries out one action of the contract's grammar in a tab, and waits until the page is quiet. */
import type { Action } from '@parlance/copilot';
import {
  type ActionOutcome,
  type BackgroundAction,
  isPageAction,
  type Observations,
} from '../../messages.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteOf } from '../../shared/sites.ts';
import {
  askPage,
  begunToLoad,
  ensureScripts,
  loaded,
  PageGone,
  PageRefused,
  refuseOwnServer,
  settle,
} from './page.ts';

export type Performed = {
  readonly outcome: ActionOutcome;
  /** null if the document was replaced */
  readonly observations: Observations | null;
  /** the tab to continue with */
  readonly tab: number;
  readonly opened?: number;
  readonly screenshot?: string;
};

const ANSWER_MS = 15_000;

export async function perform(tab: number, action: Action, tabs: TaskTabs): Promise<Performed> {
  const previousUrl = (await chrome.tabs.get(tab)).url ?? '';
  if (!isPageAction(action)) {
    const result = await performInBrowser(tab, action, tabs).catch((thrown) => failed(tab, thrown));
    const { tab: next, opened, screenshot, ...outcome } = result;
    const observations = next === tab ? await settle(next).catch(() => null) : null;
    return { outcome: { ...outcome, previousUrl }, observations, tab: next, opened, screenshot };
  }
  const limitMs = ANSWER_MS + (action.name === 'wait' ? 1_000 * action.seconds : 0);
  const opened = watchOpened(tab);
  const outcome = await askPage(tab, { kind: 'act', action }, limitMs).catch((thrown): ActionOutcome => {
    // The action has replaced the document before it could answer.
    if (thrown instanceof PageGone) return { success: true, previousUrl, elementFound: true };
    if (thrown instanceof PageRefused)
      return { success: false, error: thrown.problem, previousUrl, elementFound: false };
    throw thrown;
  });
  const observations = await settle(tab).finally(opened.stop);
  const next = await opened.tab(observations ? [...observations.openedTabs, ...observations.openedUrls] : []);
  if (next === null) return { outcome, observations, tab };
  // The popup blocker has not stopped it.
  const left = observations && { ...observations, openedUrls: [] };
  return { outcome, observations: left, tab: next, opened: next };
}

type Opened = { readonly tab: (addresses: readonly string[]) => Promise<number | null>; stop(): void };

/** A tab that the page opens itself: its opener is the page, or it is at an address that the page has opened. */
function watchOpened(tab: number): Opened {
  const created: chrome.tabs.Tab[] = [];
  const onCreated = (opened: chrome.tabs.Tab): void => void created.push(opened);
  chrome.tabs.onCreated.addListener(onCreated);
  return {
    stop: () => chrome.tabs.onCreated.removeListener(onCreated),
    async tab(addresses) {
      for (const { id, openerTabId } of created) {
        const now = id === undefined ? null : await chrome.tabs.get(id).catch(() => null);
        const address = now?.pendingUrl || now?.url;
        if (now && (openerTabId === tab || (address && addresses.includes(address)))) return now.id ?? null;
      }
      return null;
    },
  };
}

const failed = (tab: number, thrown: unknown): BrowserOutcome => ({
  success: false,
  elementFound: true,
  error: { code: 'UNSUPPORTED', message: thrown instanceof Error ? thrown.message : String(thrown) },
  tab,
});

// Actions that need an extension API: addresses, tabs, screenshots and code.

type BrowserOutcome = Omit<ActionOutcome, 'previousUrl'> & {
  /** the tab to continue with */
  readonly tab: number;
  readonly opened?: number;
  /** base64, for the field `screenshot` of the contract */
  readonly screenshot?: string;
};

type TaskTabs = {
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
async function performInBrowser(
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

// A picture of the visible part of a tab, without the values of secret fields.

/** In frames of other sites; the content script knows more fields in the page itself. */
const SECRET_FIELDS = [
  'input[type="password"]',
  'input[autocomplete^="cc-"]',
  'input[autocomplete="one-time-code"]',
  'input[name*="card" i]',
  'input[name*="cvc" i]',
  'input[name*="cvv" i]',
];
const HIDE_SECRETS = `${SECRET_FIELDS.join(',')} { color: transparent !important; text-shadow: none !important; }`;

type Picture = {
  readonly screenshot: string;
  readonly width: number;
  readonly height: number;
  /** the numbers of elements that are drawn into it */
  readonly numbers: readonly number[];
};

/** Only the visible tab of a window can be captured: it is shown first. */
async function captured(tab: number, { numbered = false } = {}): Promise<Picture> {
  const {
    windowId,
    width = 0,
    height = 0,
  } = await chrome.tabs.update(tab, { active: true }).then((shown) => shown ?? chrome.tabs.get(tab));
  await ensureScripts(tab);
  const hidden = { target: { tabId: tab, allFrames: true }, css: HIDE_SECRETS };
  await chrome.scripting.insertCSS(hidden);
  await askPage(tab, { kind: 'conceal', on: true });
  try {
    const numbers = numbered ? await askPage(tab, { kind: 'draw-numbers', on: true }) : [];
    const image = await chrome.tabs.captureVisibleTab(windowId, { format: 'jpeg', quality: 60 });
    // The picture is of whatever was in front: another tab, or the next page of this one.
    if (!(await chrome.tabs.get(tab)).active) throw new Error('Another tab was shown.');
    await refuseOwnServer(tab);
    return { screenshot: image.slice(image.indexOf(',') + 1), width, height, numbers };
  } finally {
    if (numbered) await askPage(tab, { kind: 'draw-numbers', on: false }).catch(() => undefined);
    await askPage(tab, { kind: 'conceal', on: false }).catch(() => undefined);
    await chrome.scripting.removeCSS(hidden);
  }
}
