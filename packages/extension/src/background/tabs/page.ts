/** A page as the task sees it: its content script, and when it has loaded. */
import type {
  ContentAnswers,
  ContentKind,
  ContentReply,
  ContentRequest,
  Observations,
  PageError,
  Snapshot,
} from '../../messages.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';

/** How long a page may load before scripts are injected, or it is read as it is. */
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

// Talks to the content script of a tab. Injects it where it is missing.

/** A page that does not answer is blocked by a dialog of its own, or busy. */
const ANSWER_MS = 15_000;

/** The document went away while it was asked, or has no content script. */
export class PageGone extends Error {
  override readonly name = 'PageGone';
}

/** The page answered that it could not do it. */
export class PageRefused extends Error {
  override readonly name = 'PageRefused';
  constructor(readonly problem: PageError) {
    super(problem.message);
  }
}

/** Called before a page is read or used. Throws `PageRefused` on pages of our own server, and `PageGone`. */
export async function refuseOwnServer(tab: number): Promise<void> {
  const { url, pendingUrl } = await chrome.tabs.get(tab).catch((thrown) => {
    throw new PageGone(String(thrown), { cause: thrown });
  });
  if ((await isOwnServer(url)) || (await isOwnServer(pendingUrl)))
    throw new PageRefused({ code: 'UNSUPPORTED', message: OWN_SERVER });
}

type Answer<Request extends ContentRequest> = ContentAnswers[Request['kind']];

/** Throws `PageGone` or `PageRefused`. */
export async function askPage<const Request extends ContentRequest>(
  tab: number,
  request: Request,
  limitMs = ANSWER_MS,
): Promise<Answer<Request>> {
  await refuseOwnServer(tab);
  const reply = await withinLimit(chrome.tabs.sendMessage(tab, request, { frameId: 0 }), limitMs);
  if (reply === undefined) throw new PageGone('The page did not answer.');
  const { ok } = reply as ContentReply<ContentKind>;
  if (ok) return (reply as { value: Answer<Request> }).value;
  throw new PageRefused((reply as { error: PageError }).error);
}

async function withinLimit(answer: Promise<unknown>, limitMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new PageGone('The page does not answer: a dialog may be open in it.')),
      limitMs,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } catch (thrown) {
    throw thrown instanceof PageGone ? thrown : new PageGone(String(thrown), { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}

/** Injects the scripts if they are missing. Throws `PageGone` with a sentence for people if the page cannot be used. */
export async function ensureScripts(tab: number): Promise<void> {
  if (await isReady(tab)) return;
  await loaded(tab, LOAD_MS);
  await inject(tab);
}

/** Injecting them twice does no harm. */
export async function inject(tab: number): Promise<void> {
  await refuseOwnServer(tab);
  const target = { tabId: tab };
  try {
    await chrome.scripting.executeScript({
      target,
      world: 'MAIN',
      injectImmediately: true,
      files: ['page-world.js'],
    });
    await chrome.scripting.executeScript({ target, injectImmediately: true, files: ['content.js'] });
  } catch (thrown) {
    throw new PageGone('Extensions cannot work on this page. Open a website.', { cause: thrown });
  }
}

const isReady = (tab: number): Promise<boolean> =>
  askPage(tab, { kind: 'ping' }, 2_000).then(
    () => true,
    () => false,
  );

// Waits for tabs to load.

/** Resolves when the tab has loaded, or after the limit: a page may never finish. Rejects if the tab is closed. */
export async function loaded(tab: number, limitMs = 20_000): Promise<chrome.tabs.Tab> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onUpdated = (id: number, { status }: chrome.tabs.OnUpdatedInfo) => {
    if (id === tab && status === 'complete') resolve();
  };
  const onRemoved = (id: number) => {
    if (id === tab) reject(new Error('The tab was closed.'));
  };
  chrome.tabs.onUpdated.addListener(onUpdated);
  chrome.tabs.onRemoved.addListener(onRemoved);
  const timer = setTimeout(resolve, limitMs);
  try {
    if ((await chrome.tabs.get(tab)).status !== 'complete') await promise;
    return await chrome.tabs.get(tab);
  } finally {
    clearTimeout(timer);
    chrome.tabs.onUpdated.removeListener(onUpdated);
    chrome.tabs.onRemoved.removeListener(onRemoved);
  }
}

/** Resolves when the tab begins to load another document, or after the limit. */
export async function begunToLoad(
  tab: number,
  begin: () => Promise<unknown>,
  limitMs = 3_000,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onUpdated = (id: number, { status, url }: chrome.tabs.OnUpdatedInfo) => {
    if (id === tab && (status === 'loading' || url !== undefined)) resolve();
  };
  chrome.tabs.onUpdated.addListener(onUpdated);
  const timer = setTimeout(resolve, limitMs);
  try {
    await begin();
    await promise;
  } finally {
    clearTimeout(timer);
    chrome.tabs.onUpdated.removeListener(onUpdated);
  }
}
