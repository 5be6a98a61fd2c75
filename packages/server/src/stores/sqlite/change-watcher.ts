/** Detects writes by other processes, such as `parlance user` next to a running server. */
import type { Database } from 'bun:sqlite';
import { Followers } from '../shared/followers.ts';

const LOOK_MS = 250;

export type ChangeWatcher = {
  follow(changed: () => void): () => void;
  /** Notifies followers of a write by this process. */
  notify(): void;
  stop(): void;
};

/** Polls while there are followers; does not keep the process alive. */
export function watchChanges(database: Database): ChangeWatcher {
  // SQLite counts commits of other connections; the query reads no pages.
  const version = database.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const followers = new Followers();
  const current = () => version.get()?.data_version ?? null;
  let seen = current();
  let timer: Timer | null = null;

  function look(): void {
    try {
      const now = current();
      if (now === seen) return;
      seen = now;
    } catch {
      // The next read or write reports a disk failure. Changes are detected again when the disk is back.
      seen = null;
      return;
    }
    followers.notify();
  }

  function rest(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    follow(changed) {
      const end = followers.add(changed);
      timer ??= setInterval(look, LOOK_MS).unref();
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
