/**
 * Browsers open at most six HTTP/1.1 connections per server, for all tabs together, and a stream occupies one. Hidden
 * tabs therefore close the streams they can catch up on; otherwise the fourth tab would block.
 */

const isTabVisible = (): boolean => document.visibilityState === 'visible';

/** Calls `begin` when the tab becomes visible, and the function it returns when hidden. Returns the stop function. */
export function whileVisible(begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  function update(): void {
    if (isTabVisible()) end ??= begin();
    else {
      end?.();
      end = null;
    }
  }
  document.addEventListener('visibilitychange', update);
  update();
  return () => {
    document.removeEventListener('visibilitychange', update);
    end?.();
    end = null;
  };
}

/**
 * Like `whileVisible`, but one hidden tab, elected with the Web Locks API, keeps running: there is always a tab whose title
 * shows what is pending.
 */
export function whileVisibleOrElected(name: string, begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  let release: (() => void) | null = null;
  /** Settles when the lock is free again: the browser releases it a moment after `release`. */
  let queued = Promise.resolve();
  let isStopped = false;
  const start = () => {
    end ??= begin();
  };
  const finish = () => {
    end?.();
    end = null;
  };

  /** Requests the lock that one hidden tab holds. If it is free, this tab keeps running and misses no events. */
  async function queue(earlier: Promise<void>): Promise<void> {
    const { locks } = navigator;
    if (!locks) return finish();
    const stop = new AbortController();
    const { signal } = stop;
    release = () => stop.abort();
    await earlier;
    if (signal.aborted) return;
    const held = Promise.withResolvers<void>();
    let isTaken = false;
    const elect = (lock: Lock | null): Promise<void> | undefined => {
      isTaken = lock === null;
      if (isTaken || signal.aborted || isStopped) return undefined;
      release = held.resolve;
      start();
      return held.promise;
    };
    try {
      await locks.request(name, { ifAvailable: true }, elect);
      if (!isTaken || signal.aborted) return;
      finish();
      await locks.request(name, { signal }, elect);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }

  function update(): void {
    release?.();
    release = null;
    if (isTabVisible()) start();
    else queued = queue(queued);
  }
  document.addEventListener('visibilitychange', update);
  update();
  return () => {
    isStopped = true;
    document.removeEventListener('visibilitychange', update);
    release?.();
    finish();
  };
}

const VISIBLE_LOCK = 'parlance.seen';

/** Marks this tab for `isAnyTabVisible` while it is visible. Returns the stop function. */
export const markVisible = (): (() => void) =>
  whileVisible(() => {
    const hidden = Promise.withResolvers<void>();
    void navigator.locks?.request(VISIBLE_LOCK, { mode: 'shared' }, () => hidden.promise);
    return hidden.resolve;
  });

/** Whether this tab or another one of this browser is visible. */
export async function isAnyTabVisible(): Promise<boolean> {
  if (isTabVisible()) return true;
  const locks = await navigator.locks?.query();
  return locks?.held?.some(({ name }) => name === VISIBLE_LOCK) ?? false;
}
