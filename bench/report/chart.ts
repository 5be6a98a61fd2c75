/** The chart in the README: SVG bars that are readable on light and on dark backgrounds. */
import type { Row } from '../tables/table.ts';
import { shown } from './terminal.ts';

type Bar = {
  readonly label: string;
  readonly value: number | null;
  readonly note: string;
  readonly ours: boolean;
};
type Panel = { readonly title: string; readonly bars: readonly Bar[] };

/** Selects the figure of a table that a panel shows. */
type Figure = {
  readonly table: string;
  readonly size: number;
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly digits?: number;
};

const FIGURES: readonly Figure[] = [
  { table: 'relay', size: 50, key: 'cpuPerToken', title: 'CPU time per token at 50 streams', unit: 'µs' },
  { table: 'relay', size: 500, key: 'cpuPerToken', title: 'CPU time per token at 500 streams', unit: 'µs' },
  {
    table: 'relay',
    size: 50,
    key: 'p99',
    title: 'Added delay, p99, at 50 streams',
    unit: 'ms',
    digits: 1,
  },
  { table: 'relay', size: 50, key: 'megabytes', title: 'Resident memory at 50 streams', unit: 'MB' },
  {
    table: 'fan-out',
    size: 1_000,
    key: 'cpuPerFrame',
    title: 'CPU time per frame, one session and 1,000 watchers',
    unit: 'µs',
    digits: 2,
  },
];

const WIDTH = 760;
const LABELS = 190;
const BARS = 400;
const LINE = 24;

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .note { fill: #59636e; font-size: 12px; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
  }`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function chart(rows: readonly Row[], measuredOn: string): string {
  const panels = FIGURES.map((figure) => panel(rows, figure)).filter(({ bars }) =>
    bars.some(({ value }) => value !== null),
  );
  let y = 12;
  const parts = panels.map((one) => {
    const drawn = drawPanel(one, y);
    y += (one.bars.length + 1) * LINE + 20;
    return drawn;
  });
  const notes = measuredOn.split('; ');
  const foot = notes.map(
    (note, index) => `<text class="note" x="0" y="${y + 6 + index * 16}">${escaped(note)}</text>`,
  );
  const height = y + 2 + notes.length * 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Cost of a token: Parlance and its peers">
<style>${STYLE}
</style>
${parts.join('\n')}
${foot.join('\n')}
</svg>
`;
}

function panel(rows: readonly Row[], { table, size, key, title, unit, digits = 0 }: Figure): Panel {
  const bars = rows
    .filter((row) => row.table === table && row.size === size)
    .map(({ subject, figures, absent }): Bar => {
      const figure = figures?.[key];
      const value = typeof figure === 'number' && Number.isFinite(figure) ? figure : null;
      const note = value === null ? `absent: ${absent ?? 'no figure'}` : `${shown(value, digits)} ${unit}`;
      return { label: subject, value, note, ours: subject.startsWith('Parlance') };
    });
  return { title, bars };
}

/** Lengths are to scale. */
function drawPanel({ title, bars }: Panel, top: number): string {
  const most = Math.max(...bars.map(({ value }) => value ?? 0));
  const lines = bars.map(({ label, value, note, ours }, index) => {
    const y = top + (index + 1) * LINE;
    const length = value === null || most === 0 ? 0 : Math.max(1, (value / most) * BARS);
    const bar =
      value === null
        ? ''
        : `<rect class="${ours ? 'ours' : 'bar'}" x="${LABELS}" y="${y}" width="${length.toFixed(1)}" height="16" rx="2"/>`;
    return `<text x="${LABELS - 10}" y="${y + 13}" text-anchor="end">${escaped(label)}</text>${bar}<text class="note" x="${(LABELS + length + 8).toFixed(1)}" y="${y + 13}">${escaped(note)}</text>`;
  });
  return [`<text class="title" x="0" y="${top + 12}">${escaped(title)}</text>`, ...lines].join('\n');
}
