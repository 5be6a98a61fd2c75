/**
 * A browser opens six connections to a server at a time, for all its tabs together, and a stream takes one for as long
 * as it lasts. A tab that nobody sees therefore lets go of what it can catch up on; otherwise the fourth tab would wait
 * for the others for ever.
 */

const seen = (): boolean => document.visibilityState === 'visible';

/** `begin` is called when the tab is seen, and what it returns when it is no longer. Returns what ends it. */
export function whileSeen(begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  function look(): void {
    if (seen()) end ??= begin();
    else {
      end?.();
      end = null;
    }
  }
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    end?.();
    end = null;
  };
}

/**
 * As `whileSeen`; and of all tabs that nobody sees, one goes on, where the browser can tell them apart: so that there
 * is always a tab whose title says what waits.
 */
export function whileSeenOrFirst(name: string, begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  let release: (() => void) | null = null;
  let over = false;
  const start = () => {
    end ??= begin();
  };
  const finish = () => {
    end?.();
    end = null;
  };

  /** Waits for its turn among the unseen. */
  async function queue(): Promise<void> {
    const stop = new AbortController();
    release = () => stop.abort();
    const held = Promise.withResolvers<void>();
    try {
      await navigator.locks?.request(name, { signal: stop.signal }, () => {
        if (seen() || over) return undefined;
        release = held.resolve;
        start();
        return held.promise;
      });
    } catch (thrown) {
      if (!stop.signal.aborted) throw thrown;
    }
  }

  function look(): void {
    release?.();
    release = null;
    if (seen()) start();
    else {
      finish();
      void queue();
    }
  }
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    over = true;
    document.removeEventListener('visibilitychange', look);
    release?.();
    finish();
  };
}
