/** A line chart of the last minutes, with a text alternative. */
import { HISTORY_MS } from './history.ts';
import { highest, last, type Point, pathOf, roof } from './series.ts';

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

export function Chart({ title, hint, points, beside, label, format, least = 0, unit = 1, now }: ChartProps) {
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
