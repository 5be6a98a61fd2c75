/** Any store, with its appends counted. */
import type { Meter } from '../../core/ports/meter.ts';
import type { EventStore } from '../../core/ports/store.ts';

export function metered(store: EventStore, meter: Meter): EventStore {
  let waiting = 0;
  meter.gauge('queue_depth', () => ({ appends: waiting }));
  return {
    ...store,
    async append(expected, facts, record) {
      const began = performance.now();
      waiting++;
      try {
        await store.append(expected, facts, record);
        meter.observe('append_seconds', (performance.now() - began) / 1000);
      } finally {
        waiting--;
      }
    },
  };
}
