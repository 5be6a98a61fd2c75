/** Live metrics of the server. */

import { ParlanceError } from '@parlance/sdk';
import { onActivity } from '@parlance/ui/state/activity.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useEffect } from 'react';
import { Section } from '../section.tsx';
import { type Figures, figuresOf } from './figures.ts';
import { bytes, count, perSecond, seconds } from './format.ts';
import { gauge, highest, last, type Point, pathOf, rate, roof } from './series.ts';

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
                  label: 'pending approvals',
                  points: gauge(known, ({ approvalsWaiting }) => approvalsWaiting),
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
