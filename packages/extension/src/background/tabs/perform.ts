/** Carries out one action of the contract's grammar in a tab, and waits until the page is quiet. */
import type { Action } from '@parlance/copilot';
import { type ActionOutcome, isPageAction, type Observations } from '../../messages.ts';
import { type BrowserOutcome, performInBrowser, type TaskTabs } from './browser-actions.ts';
import { askPage, PageGone, PageRefused } from './content.ts';
import { settle } from './page.ts';

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
