/** Records the last use of keys: in memory immediately, in the store later and in batches. */
import type { ApiKeyStore } from '../core/ports/api-keys.ts';
import type { Log } from '../core/ports/logger.ts';

/** Delay after the first use, and the minimum interval between two writes. */
const FIRST_MS = 1_000;
const INTERVAL_MS = 60_000;

export type KeyUse = {
  /** Cheap, since it is called for every request with a key. */
  used(id: string, at: number): void;
  /** Writes pending uses. */
  close(): Promise<void>;
};

export function recordKeyUse(keys: Pick<ApiKeyStore, 'used'>, log: Log): KeyUse {
  let pending = new Map<string, number>();
  let timer: Timer | null = null;
  let written = Number.NEGATIVE_INFINITY;

  async function write(): Promise<void> {
    timer = null;
    if (pending.size === 0) return;
    const times = pending;
    pending = new Map();
    written = performance.now();
    try {
      await keys.used(times);
    } catch (err) {
      // The time of last use is only informational and not worth a retry.
      log.warn({ err }, 'failed to record the use of API keys');
    }
  }

  return {
    used(id, at) {
      pending.set(id, at);
      const wait = Math.max(FIRST_MS, written + INTERVAL_MS - performance.now());
      timer ??= setTimeout(() => void write(), wait).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      await write();
    },
  };
}
