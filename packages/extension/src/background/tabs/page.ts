/** A page as the task sees it. */
import type { Observations, Snapshot } from '../../messages.ts';
import { askPage, ensureScripts, PageGone } from './content.ts';
import { loaded } from './loading.ts';

/** How long a page may load before it is read as it is. */
const LOAD_MS = 6_000;
/** Attempts to read a page that is replaced while it is read. */
const ATTEMPTS = 4;

/** The content script is there, and the page works for a task. */
export async function attach(tab: number): Promise<void> {
  await ensureScripts(tab);
  await askPage(tab, { kind: 'attach' });
}

/** Waits until the page is quiet. Null if the document was replaced meanwhile: the new one is attached and quiet then. */
export async function settle(tab: number): Promise<Observations | null> {
  try {
    const seen = await askPage(tab, { kind: 'settle' });
    if ((await chrome.tabs.get(tab)).status === 'complete') return seen;
    // The next document is on its way, or this one still loads.
    await loaded(tab, LOAD_MS);
    return await askPage(tab, { kind: 'settle' }).then(({ url }) => (url === seen.url ? seen : null));
  } catch (thrown) {
    if (!(thrown instanceof PageGone)) throw thrown;
    await retried(async () => {
      await attach(tab);
      await askPage(tab, { kind: 'settle' });
    });
    return null;
  }
}

export const snapshot = (tab: number): Promise<Snapshot> =>
  retried(async () => {
    await attach(tab);
    return askPage(tab, { kind: 'snapshot' });
  });

async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof PageGone) || attempt >= ATTEMPTS) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 150 * attempt));
    }
  }
}

/** Nothing is shown in a tab that is closed or cannot have a content script. */
export async function release(tab: number): Promise<void> {
  for (const request of [{ kind: 'indicate', text: null }, { kind: 'release' }] as const)
    await askPage(tab, request, 2_000).catch(() => undefined);
}

export const indicate = (tab: number, text: string): Promise<unknown> =>
  askPage(tab, { kind: 'indicate', text }, 2_000).catch(() => undefined);
