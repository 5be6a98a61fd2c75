/** Reads the charted metrics from Prometheus text. */

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
  readonly approvalsWaiting: number;
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
    approvalsWaiting: sum('parlance_approvals_waiting'),
  };
}
