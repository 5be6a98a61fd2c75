/** Detects changes of users and revocations by other processes, without a heartbeat. */
import { Followers } from '../shared/followers.ts';
import type { Statements } from './database.ts';

const LOOK_MS = 400;

export type Changes = {
  follow(changed: () => void): () => void;
  /** Reports that users or revocations may have changed. */
  notify(): void;
  stop(): void;
};

/** With `poll`, reads the counter while there are followers. Does not keep the process alive. */
export function watchChanges(poll: Statements | null): Changes {
  const followers = new Followers();
  let seen: string | null = null;
  let timer: Timer | null = null;

  async function look(): Promise<void> {
    const [row] = (await poll?.query('SELECT changes FROM cluster').catch(() => [])) ?? [];
    if (!row) return;
    const before = seen;
    seen = String(row.changes);
    if (before !== null && before !== seen) followers.notify();
  }

  function rest(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    follow(changed) {
      const end = followers.add(changed);
      if (poll) timer ??= setInterval(look, LOOK_MS).unref();
      return () => {
        end();
        if (followers.size === 0) rest();
      };
    },
    notify: () => followers.notify(),
    stop() {
      followers.clear();
      rest();
    },
  };
}
