/** Wraps a store and counts its appends. */

import type { EventStore } from '../../core/ports/event-store.ts';
import type { Meter } from '../../core/ports/meter.ts';

export function metered(store: EventStore, meter: Meter): EventStore {
  let waiting = 0;
  meter.gauge('queue_depth', () => ({ appends: waiting }));
  return {
    ...store,
    async append(expected, events, record) {
      const began = performance.now();
      waiting++;
      try {
        await store.append(expected, events, record);
        meter.observe('append_seconds', (performance.now() - began) / 1000);
      } finally {
        waiting--;
      }
    },
  };
}
