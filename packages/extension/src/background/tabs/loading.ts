/** Waits for tabs to load. */

const LOAD_MS = 20_000;

/** Resolves when the tab has loaded, or after the limit: a page may never finish. Rejects if the tab is closed. */
export async function loaded(tab: number, limitMs = LOAD_MS): Promise<chrome.tabs.Tab> {
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
