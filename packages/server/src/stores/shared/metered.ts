/** Wraps a log and counts its appends. */

import type { EventStore } from '../../core/ports/event-store.ts';
import type { Meter } from '../../core/ports/telemetry.ts';

export function metered<Log extends Pick<EventStore, 'append'>>(store: Log, meter: Meter): Log {
  let waiting = 0;
  meter.gauge('queue_depth', () => ({ appends: waiting }));
  return {
    ...store,
    async append(...given) {
      const began = performance.now();
      waiting++;
      try {
        const driver = await store.append(...given);
        meter.observe('append_seconds', (performance.now() - began) / 1000);
        return driver;
      } finally {
        waiting--;
      }
    },
  };
}
