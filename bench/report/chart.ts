/** The chart in the README: SVG bars side by side, readable on light and on dark backgrounds. */
import type { Row } from '../tables/table.ts';
import { shown } from './terminal.ts';

type Bar = { readonly label: string; readonly value: number | null; readonly note: string };
type Panel = { readonly title: string; readonly bars: readonly Bar[] };

/** Selects the figure of the relay table that a panel shows. */
type Figure = {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly digits?: number;
};

const FIGURES: readonly Figure[] = [
  { key: 'cpuPerToken', title: 'CPU time per token', unit: 'µs' },
  { key: 'p99', title: 'Added delay, 99th percentile', unit: 'ms', digits: 1 },
  { key: 'megabytes', title: 'Memory', unit: 'MB' },
];

/** What the contestants are, for readers who do not know the benchmark. */
const LABELS: Readonly<Record<string, string>> = { floor: 'bare relay', 'by hand': 'AI SDK and ws' };
const OURS = 'Parlance';
const STREAMS = 50;

const COLUMN = 290;
const LABEL = 128;
const BAR = 88;
const LINE = 20;

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .note { fill: #59636e; font-size: 12px; }
  .bar { fill: #a3aab2; }
  .ours { fill: #27715a; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #7fcdb0; }
  }`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function chart(rows: readonly Row[], measuredOn: string): string {
  const panels = FIGURES.map((figure) => panel(rows, figure)).filter(({ bars }) =>
    bars.some(({ value }) => value !== null),
  );
  const parts = panels.map((one, column) => drawPanel(one, column * COLUMN, 0));
  const y = (Math.max(...panels.map(({ bars }) => bars.length)) + 1) * LINE + 24;
  const notes = [
    `${STREAMS} streams of 100 tokens a second · ${OURS}: its slowest dialect`,
    measuredOn.replaceAll('; ', ' · '),
  ];
  const foot = notes.map((note, at) => `<text class="note" x="0" y="${y + at * 16}">${escaped(note)}</text>`);
  const [width, height] = [panels.length * COLUMN, y + 22];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Cost of a token: Parlance and its peers">
<style>${STYLE}
</style>
${parts.join('\n')}
${foot.join('\n')}
</svg>
`;
}

function panel(rows: readonly Row[], { key, title, unit, digits = 0 }: Figure): Panel {
  const bars = rows
    .filter((row) => row.table === 'relay' && row.size === STREAMS && row.subject !== 'socket floor')
    .map(({ subject, figures, absent }): Bar => {
      const figure = figures?.[key];
      const value = typeof figure === 'number' && Number.isFinite(figure) ? figure : null;
      const note = value === null ? `absent: ${absent ?? 'no figure'}` : `${shown(value, digits)} ${unit}`;
      return { label: subject.startsWith(OURS) ? OURS : (LABELS[subject] ?? subject), value, note };
    });
  return { title, bars: worstOfEach(bars) };
}

/** One bar for each label, the smallest value first. */
function worstOfEach(bars: readonly Bar[]): Bar[] {
  const worst = new Map<string, Bar>();
  for (const bar of bars)
    if ((bar.value ?? 0) >= (worst.get(bar.label)?.value ?? 0)) worst.set(bar.label, bar);
  const order = ({ value }: Bar) => value ?? Number.POSITIVE_INFINITY;
  return [...worst.values()].sort((left, right) => order(left) - order(right));
}

/** Lengths are to scale. */
function drawPanel({ title, bars }: Panel, left: number, top: number): string {
  const most = Math.max(...bars.map(({ value }) => value ?? 0));
  const start = left + LABEL;
  const lines = bars.map(({ label, value, note }, index) => {
    const y = top + (index + 1) * LINE;
    const length = value === null || most === 0 ? 0 : Math.max(1, (value / most) * BAR);
    const name = `<text x="${start - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>`;
    const bar = `<rect class="${label === OURS ? 'ours' : 'bar'}" x="${start}" y="${y + 1}" width="${length.toFixed(1)}" height="14" rx="2"/>`;
    const text = `<text class="note" x="${(start + length + 6).toFixed(1)}" y="${y + 12}">${escaped(note)}</text>`;
    return name + (value === null ? '' : bar) + text;
  });
  return [`<text class="title" x="${left}" y="${top + 12}">${escaped(title)}</text>`, ...lines].join('\n');
}
