/** CPU, memory and event loop lag of the process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import type Registry from 'prom-client/lib/registry.js';
import { PROCESS } from './metric-list.ts';

/** Sampling interval of the event loop lag, in milliseconds. */
const RESOLUTION = 50;

export function processMetrics(registry: Registry): void {
  const described = <Name extends keyof typeof PROCESS>(name: Name) => ({
    name,
    help: PROCESS[name].help,
    registers: [registry],
  });
  const gauge = (name: keyof typeof PROCESS, read: () => number) =>
    new Gauge({
      ...described(name),
      collect() {
        this.set(read());
      },
    });
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  gauge('process_start_time_seconds', () => startedAt);
  gauge('process_resident_memory_bytes', () => process.memoryUsage.rss());
  gauge('process_heap_bytes', () => process.memoryUsage().heapUsed);
  new Counter({
    ...described('process_cpu_seconds_total'),
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
  eventLoopDelay(described('parlance_event_loop_delay_seconds'));
}

/** Sampling starts with the first scrape, so that it costs nothing without one. */
function eventLoopDelay(described: { name: string; help: string; registers: Registry[] }): void {
  let delays: ReturnType<typeof monitorEventLoopDelay> | null = null;
  new Gauge({
    ...described,
    labelNames: ['quantile'],
    collect() {
      if (delays && delays.count > 0) {
        this.set({ quantile: '0.5' }, delays.percentile(50) / 1e9);
        this.set({ quantile: '0.99' }, delays.percentile(99) / 1e9);
        this.set({ quantile: '1' }, delays.max / 1e9);
        delays.reset();
      }
      if (delays) return;
      delays = monitorEventLoopDelay({ resolution: RESOLUTION });
      delays.enable();
    },
  });
}
