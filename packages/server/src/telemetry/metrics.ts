/** Prometheus metrics. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import type { CounterName, Figures, GaugeName, HistogramName, Meter } from '../core/ports/telemetry.ts';
import { COUNTERS, counterName, entries, GAUGES, HISTOGRAMS, metricName, PROCESS } from './metric-list.ts';

export type Metrics = Meter & {
  readonly contentType: string;
  /** current values in Prometheus' text format */
  text(): Promise<string>;
  /** Current counters and gauges under the same names; by label if they have one. */
  figures(): Promise<Record<string, Figures>>;
};

type Read = () => Figures | Promise<Figures>;

export function openMetrics(): Metrics {
  const registry = new Registry();
  const counters = counterFamily(registry);
  const histograms = histogramFamily(registry);
  const readers = gaugeFamily(registry);
  processMetrics(registry);
  return {
    add(name, label, amount = 1) {
      counters[name].inc(labels(COUNTERS[name].label, label), amount);
    },
    observe(name, value, label) {
      histograms[name].observe(labels(HISTOGRAMS[name].label, label), value);
    },
    gauge: (name, read) => void readers[name].push(read),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    figures: () => figuresOf(registry),
  };
}

/** Process metrics are left out: reading the event loop lag resets its measurement. */
async function figuresOf(registry: Registry): Promise<Record<string, Figures>> {
  const named = [
    ...entries(COUNTERS).map(([name, { label }]) => ({ name: counterName(name), label })),
    ...entries(GAUGES).map(([name, { label }]) => ({ name: metricName(name), label })),
  ];
  const figures: Record<string, Figures> = {};
  for (const { name, label } of named) {
    const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
    if (label !== undefined)
      figures[name] = Object.fromEntries(values.map((one) => [String(one.labels[label]), one.value]));
    else if (values[0]) figures[name] = values[0].value;
  }
  return figures;
}

const labels = (name: string | undefined, value: string | undefined): Record<string, string> =>
  name === undefined || value === undefined ? {} : { [name]: value };

const labelNames = ({ label }: { label?: string }): string[] => (label === undefined ? [] : [label]);

function counterFamily(registry: Registry): Record<CounterName, Counter> {
  const made = entries(COUNTERS).map(([name, metric]) => {
    const counter = new Counter({
      name: counterName(name),
      help: metric.help,
      labelNames: labelNames(metric),
      registers: [registry],
    });
    for (const value of metric.values ?? []) counter.inc(labels(metric.label, value), 0);
    return [name, counter];
  });
  return Object.fromEntries(made);
}

function histogramFamily(registry: Registry): Record<HistogramName, Histogram> {
  const made = entries(HISTOGRAMS).map(([name, metric]) => {
    const { help, buckets } = metric;
    const histogram = new Histogram({
      name: metricName(name),
      help,
      buckets,
      labelNames: labelNames(metric),
      registers: [registry],
    });
    return [name, histogram];
  });
  return Object.fromEntries(made);
}

function gaugeFamily(registry: Registry): Record<GaugeName, Read[]> {
  const made = entries(GAUGES).map(([name, metric]) => {
    const readers: Read[] = [];
    new Gauge({
      name: metricName(name),
      help: metric.help,
      labelNames: labelNames(metric),
      registers: [registry],
      async collect() {
        // A gauge that cannot be read is left out; the others are still served.
        const read = await Promise.allSettled(readers.map(async (reader) => reader()));
        this.reset();
        for (const outcome of read) {
          if (outcome.status === 'rejected') {
            if (metric.label === undefined) this.remove({});
            continue;
          }
          const figure = outcome.value;
          if (typeof figure === 'number') this.inc(figure);
          else for (const [label, value] of entries(figure)) this.inc(labels(metric.label, label), value);
        }
      },
    });
    return [name, readers];
  });
  return Object.fromEntries(made);
}

// CPU, memory and event loop lag of the process.

/** Sampling interval of the event loop lag, in milliseconds. */
const RESOLUTION = 50;

function processMetrics(registry: Registry): void {
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
