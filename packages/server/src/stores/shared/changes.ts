/** Tells followers that users, API keys, pairings, settings or revocations may have changed. */
import { Listeners } from '../../lib/listeners.ts';

export type Changes = {
  follow(changed: () => void): () => void;
  /** Notifies followers of a change by this process. */
  notify(): void;
  stop(): void;
};

export type Poll = {
  /** a value that every change by another process changes */
  readonly version: () => unknown;
  /** the value when the store was opened, if it is known */
  readonly seen?: unknown;
  readonly everyMs: number;
};

/** Polls while there are followers, to notice other processes. Does not keep the process alive. */
export function watchChanges(poll: Poll | null): Changes {
  const followers = new Listeners();
  let seen = poll?.seen;
  let timer: Timer | null = null;

  async function look(poll: Poll): Promise<void> {
    const before = seen;
    // The next read or write reports a failure. Changes are noticed again when the database is back.
    seen = await new Promise((resolve) => resolve(poll.version())).catch(() => null);
    if (before !== undefined && seen !== null && seen !== before) followers.notify();
  }

  function rest(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    follow(changed) {
      const end = followers.add(changed);
      if (poll) timer ??= setInterval(() => void look(poll), poll.everyMs).unref();
      return () => {
        end();
        if (followers.size === 0) rest();
      };
    },
    notify: followers.notify,
    stop() {
      followers.clear();
      rest();
    },
  };
}
