/** A clock that only the test advances. */
import type { Clock } from '../retry.ts';

export type ManualClock = Clock & {
  /** Advances the time and runs due timers in order. */
  advance(ms: number): void;
  /** remaining time of each timer */
  waiting(): number[];
};

export function manualClock(random = 0.5, start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start;
  const timers = new Map<object, { at: number; call: () => void }>();
  return {
    now: () => now,
    random: () => random,
    after(ms, call) {
      const timer = {};
      timers.set(timer, { at: now + ms, call });
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].sort(([, a], [, b]) => a.at - b.at).find(([, { at }]) => at <= end);
        if (!due) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].call();
      }
      now = end;
    },
    waiting: () => [...timers.values()].map(({ at }) => at - now),
  };
}
