/** Live metrics of the server. */
import { ParlanceError } from '@parlance/sdk';
import { onActivity } from '@parlance/ui/state/activity.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useEffect } from 'react';
import { Section } from './section.tsx';

export function MetricsSection() {
  const { figures, fault } = useStore(history);
  const { id } = useServer().principal;
  useEffect(() => followMetrics(id), [id]);
  const value = figures.length === 0 ? null : figures;
  return (
    <Section title="Metrics" polled={{ value, fault, again: null }}>
      {(known) => {
        const now = known.at(-1)?.at ?? 0;
        return (
          <>
            <div className="charts">
              <Chart
                title="Turns ended"
                points={rate(known, ({ turns }) => turns)}
                format={perSecond}
                now={now}
              />
              <Chart
                title="Tokens"
                label="output"
                points={rate(known, ({ tokensOut }) => tokensOut)}
                beside={{ label: 'input', points: rate(known, ({ tokensIn }) => tokensIn) }}
                format={perSecond}
                now={now}
              />
              <Chart
                title="Event-loop delay"
                hint="99th percentile"
                points={gauge(known, ({ delay }) => delay)}
                format={seconds}
                least={0.01}
                now={now}
              />
              <Chart
                title="Memory"
                points={gauge(known, ({ memory }) => memory)}
                format={bytes}
                unit={2 ** 20}
                now={now}
              />
              <Chart
                title="Sockets"
                points={gauge(known, ({ sockets }) => sockets)}
                format={count}
                least={5}
                now={now}
              />
              <Chart
                title="Turns running"
                label="running"
                points={gauge(known, ({ turnsRunning }) => turnsRunning)}
                beside={{
                  label: 'waiting for a user',
                  points: gauge(known, ({ sessionsWaiting }) => sessionsWaiting),
                }}
                format={count}
                least={5}
                now={now}
              />
            </div>
            <p className="hint">
              Updated every two seconds while this page is open, and not stored. For a history, let Prometheus
              scrape <code>/metrics</code>.
            </p>
          </>
        );
      }}
    </Section>
  );
}

// A line chart of the last minutes, with a text alternative.

type ChartProps = {
  readonly title: string;
  readonly hint?: string;
  readonly points: readonly Point[];
  /** a second, thinner line */
  readonly beside?: { readonly label: string; readonly points: readonly Point[] };
  readonly label?: string;
  readonly format: (value: number) => string;
  /** minimum of the top value, so that small values look small */
  readonly least?: number;
  /** the top is a round multiple of this */
  readonly unit?: number;
  readonly now: number;
};

const WIDTH = 280;
const HEIGHT = 72;

function Chart({ title, hint, points, beside, label, format, least = 0, unit = 1, now }: ChartProps) {
  const most = roof(Math.max(highest(points), highest(beside?.points ?? []), least) / unit) * unit;
  const frame = { width: WIDTH, height: HEIGHT, from: now - HISTORY_MS, to: now, most };
  const value = last(points);
  const besideValue = beside ? last(beside.points) : null;
  const shown = value === null ? 'no data yet' : format(value);
  return (
    <figure className="card chart">
      <figcaption>
        <span>{title}</span>
        <strong>{value === null ? '…' : format(value)}</strong>
      </figcaption>
      <svg
        viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${shown}; maximum in the last five minutes ${format(highest(points))}`}
      >
        <path className="chart-floor" d={`M0 0H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
        {beside && <path className="chart-beside" d={pathOf(beside.points, frame)} />}
        <path className="chart-line" d={pathOf(points, frame)} />
      </svg>
      <p className="chart-legend" aria-hidden="true">
        <span>5 min ago</span>
        <span>max {format(most)}</span>
        <span>now</span>
      </p>
      {(hint || beside) && (
        <p className="hint">
          {beside && (
            <>
              <span className="chart-key chart-key-line" /> {label}{' '}
              <span className="chart-key chart-key-beside" /> {beside.label}
              {besideValue !== null && ` ${format(besideValue)}`}
            </>
          )}
          {hint}
        </p>
      )}
    </figure>
  );
}

// Metrics of the last minutes, kept in the page because the server keeps none. Polled while the section is shown.

const POLL_MS = 2_000;
const HISTORY_MS = 5 * 60_000;

type History = { readonly figures: readonly Figures[]; readonly fault: ParlanceError | null };

const history = store<History>({ figures: [], fault: null });

async function poll(signal: AbortSignal): Promise<void> {
  try {
    const text = await parlance.admin.metrics({ signal });
    const now = Date.now();
    const kept = history.get().figures.filter(({ at }) => at > now - HISTORY_MS);
    history.set({ figures: [...kept, figuresOf(text, now)], fault: null });
  } catch (thrown) {
    if (signal.aborted) return;
    if (!(thrown instanceof ParlanceError)) throw thrown;
    history.set({ ...history.get(), fault: thrown });
  }
}

let shownTo = '';

/** Returns the stop function. Discards figures of another principal. Does not poll while hidden: the chart has a gap. */
function followMetrics(principal: string): () => void {
  if (shownTo !== principal) history.set({ figures: [], fault: null });
  shownTo = principal;
  const controller = new AbortController();
  const again = async () => {
    if (!document.hidden) await poll(controller.signal);
    if (!controller.signal.aborted) timer = setTimeout(() => void again(), POLL_MS);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  void again();
  const unfollow = onActivity(({ type }) => type === 'ready' && void poll(controller.signal));
  return () => {
    unfollow();
    controller.abort();
    clearTimeout(timer);
  };
}

// Reads the charted metrics from Prometheus text.

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type Figures = {
  /** time of the request, in milliseconds since the epoch */
  readonly at: number;
  /** counters since the server started */
  readonly turns: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** in seconds; null shortly after the start */
  readonly delay: number | null;
  /** in bytes */
  readonly memory: number;
  readonly sockets: number;
  readonly turnsRunning: number;
  readonly sessionsWaiting: number;
};

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:\\.|[^"\\])*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n' };

export function parseMetrics(text: string): ReadonlyMap<string, readonly Sample[]> {
  const found = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = line.match(LINE) ?? [];
    if (name === undefined || Number.isNaN(Number(value))) continue;
    const sample = { labels: labelsOf(labels), value: Number(value) };
    const known = found.get(name);
    if (known) known.push(sample);
    else found.set(name, [sample]);
  }
  return found;
}

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped),
    ]),
  );

export function figuresOf(text: string, at: number): Figures {
  const metrics = parseMetrics(text);
  const sum = (name: string, wanted: Readonly<Record<string, string>> = {}): number =>
    (metrics.get(name) ?? [])
      .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
      .reduce((total, { value }) => total + value, 0);
  const delay = metrics
    .get('parlance_event_loop_delay_seconds')
    ?.find(({ labels }) => labels.quantile === '0.99');
  return {
    at,
    turns: sum('parlance_turns_total'),
    tokensIn: sum('parlance_tokens_total', { direction: 'input' }),
    tokensOut: sum('parlance_tokens_total', { direction: 'output' }),
    delay: delay?.value ?? null,
    memory: sum('process_resident_memory_bytes'),
    sockets: sum('parlance_sockets'),
    turnsRunning: sum('parlance_turns_running'),
    sessionsWaiting: sum('parlance_sessions_waiting'),
  };
}

// Time series for charts, with gaps where nothing is known.

export type Point = { readonly at: number; readonly value: number | null };

/** Samples further apart than this are not connected. */
export const GAP_MS = 10_000;

export const gauge = (history: readonly Figures[], read: (figures: Figures) => number | null): Point[] =>
  withGaps(history.map((figures) => ({ at: figures.at, value: read(figures) })));

/** Rate per second between two samples. A counter that fell belongs to a new process. */
export function rate(history: readonly Figures[], read: (figures: Figures) => number): Point[] {
  return withGaps(
    history.slice(1).map((figures, index): Point => {
      const before = history[index];
      const seconds = before ? (figures.at - before.at) / 1_000 : 0;
      const grown = before ? read(figures) - read(before) : -1;
      const known = seconds > 0 && seconds * 1_000 <= GAP_MS && grown >= 0;
      return { at: figures.at, value: known ? grown / seconds : null };
    }),
  );
}

function withGaps(points: readonly Point[]): Point[] {
  return points.flatMap((point, index) => {
    const before = points[index - 1];
    return before && point.at - before.at > GAP_MS ? [{ at: before.at + 1, value: null }, point] : [point];
  });
}

/** The smallest number of the form 1, 2 or 5 times a power of ten that is not below the value. */
export function roof(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => value <= factor * power * (1 + 1e-9)) ?? 10;
  return step * power;
}

export type Frame = {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly most: number;
};

/** The `d` of a path. A single point is a short stroke, so that it is visible. */
export function pathOf(points: readonly Point[], { width, height, from, to, most }: Frame): string {
  const spot = (at: number, value: number): string => {
    const x = ((at - from) / (to - from)) * width;
    const y = height - (Math.min(value, most) / most) * height;
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  };
  let path = '';
  points.forEach(({ at, value }, index) => {
    if (value === null || at < from) return;
    const before = points[index - 1];
    const joined = before !== undefined && before.value !== null && before.at >= from;
    const alone = !joined && (points[index + 1]?.value ?? null) === null;
    path += `${joined ? 'L' : 'M'}${spot(at, value)}${alone ? 'h0.1' : ''}`;
  });
  return path;
}

export const last = (points: readonly Point[]): number | null => points.at(-1)?.value ?? null;

export const highest = (points: readonly Point[]): number =>
  points.reduce((most, { value }) => Math.max(most, value ?? 0), 0);

// Formats metrics for people.

const digits = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });

const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 0 });

export const perSecond = (value: number): string => `${digits(value)}/s`;

export const bytes = (value: number): string =>
  value >= 2 ** 30 ? `${digits(value / 2 ** 30)} GB` : `${digits(value / 2 ** 20)} MB`;

export const seconds = (value: number): string =>
  value >= 1 ? `${digits(value)} s` : `${digits(value * 1_000)} ms`;
