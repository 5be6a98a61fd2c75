/** Talks to the content script of a tab. Injects it where it is missing. */
import type { ContentAnswers, ContentKind, ContentReply, ContentRequest, PageError } from '../../messages.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { loaded } from './loading.ts';

/** How long a page may load before the scripts are injected. */
const LOAD_MS = 6_000;
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
