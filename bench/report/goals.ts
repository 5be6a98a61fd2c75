/** The goals with their measured figures. A goal whose rows were not measured is neither met nor missed. */
import type { Row } from '../tables/table.ts';
import { clusterGoals } from './cluster-goals.ts';
import { type Cell, finder } from './find-figure.ts';
import { type Goal, NOT_MEASURED } from './goal.ts';

const FAN_OUT = { table: 'fan-out', size: 1_000, key: 'cpuPerFrame' };
const APPEND = { table: 'append', subject: 'native HTTP', size: 1_000 };

const DIALECTS = ['agentloop', 'conversations', 'native'];

export function goalsOf(rows: readonly Row[]): Goal[] {
  const find = finder(rows);
  /** the worst dialect counts */
  const worst = (cell: Omit<Cell, 'subject'>): number | null => {
    const figures = DIALECTS.map((name) => find({ ...cell, subject: `Parlance, ${name}` })).filter(
      (figure) => figure !== null,
    );
    return figures.length === 0 ? null : Math.max(...figures);
  };
  const ratio = (
    goal: string,
    [size, peer, dialect]: readonly [size: number, peer: string, dialect?: string],
    most: number,
  ): Goal => {
    const cell = { table: 'relay', size, key: 'cpuPerToken' };
    const ours = dialect === undefined ? worst(cell) : find({ ...cell, subject: `Parlance, ${dialect}` });
    const theirs = find({ ...cell, subject: peer });
    if (ours === null || theirs === null) return { goal, ...NOT_MEASURED };
    const times = ours / theirs;
    return {
      goal,
      figure: `${times.toFixed(2)} × (${ours.toFixed(1)} against ${theirs.toFixed(1)} µs)`,
      met: times <= most,
    };
  };
  const below = (
    goal: string,
    figure: number | null,
    { most, unit }: { most: number; unit: string },
  ): Goal =>
    figure === null
      ? { goal, ...NOT_MEASURED }
      : { goal, figure: `${figure.toFixed(1)} ${unit}`, met: figure < most };
  const fanOut = (goal: string, ours: number | null): Goal => {
    const plain = find({ ...FAN_OUT, subject: 'plain ws broadcast' });
    if (ours === null || plain === null) return { goal, ...NOT_MEASURED };
    return { goal, figure: `${ours.toFixed(2)} against ${plain.toFixed(2)} µs a frame`, met: ours <= plain };
  };
  const append = (goal: string): Goal => {
    const rate = find({ ...APPEND, key: 'rate' });
    const p99 = find({ ...APPEND, key: 'p99' });
    if (rate === null || p99 === null) return { goal, ...NOT_MEASURED };
    // The last answers arrive after the last second, so the rate is slightly below the requested one.
    return {
      goal,
      figure: `${p99.toFixed(1)} ms at ${Math.round(rate)} a second`,
      met: p99 < 10 && rate > 950,
    };
  };
  const request = (subject: string, key = 'p50'): number | null =>
    find({ table: 'gateway', size: 25, subject, key });
  const times = (
    goal: string,
    [ours, theirs]: readonly [number | null, number | null],
    most: number,
  ): Goal =>
    ours === null || theirs === null
      ? { goal, ...NOT_MEASURED }
      : {
          goal,
          figure: `${(ours / theirs).toFixed(2)} × (${ours.toFixed(2)} against ${theirs.toFixed(2)} ms)`,
          met: ours <= most * theirs,
        };
  const chat = request('Parlance, SQLite: chat');
  const lost = rows.filter(
    ({ figures }) => figures && (Number(figures.missing ?? 0) > 0 || Number(figures.misplaced ?? 0) > 0),
  );
  const streamed = rows.filter(({ figures }) => figures && 'missing' in figures);
  return [
    ratio('at most twice the floor at 50 streams', [50, 'floor'], 2),
    ratio('at most twice the floor at 500 streams', [500, 'floor'], 2),
    ratio('openai chat: at most twice the floor at 50 streams', [50, 'floor', 'openai'], 2),
    ratio('at most 1.3 times the socket floor at 50 streams', [50, 'socket floor'], 1.3),
    ratio('at most 1.3 times the socket floor at 500 streams', [500, 'socket floor'], 1.3),
    ratio('at most a third of "by hand" at 50 streams', [50, 'by hand'], 1 / 3),
    ratio('at most a third of "by hand" at 500 streams', [500, 'by hand'], 1 / 3),
    ratio('at most a tenth of Codex app-server at 50 streams', [50, 'Codex app-server'], 1 / 10),
    below('p99 added delay under 5 ms at 50 streams', worst({ table: 'relay', size: 50, key: 'p99' }), {
      most: 5,
      unit: 'ms',
    }),
    below(
      'under 120 MB at 500 streams with the profile for small machines',
      find({ table: 'engine-flags', subject: 'small', size: 500, key: 'megabytes' }),
      { most: 120, unit: 'MB' },
    ),
    fanOut('fan-out to 1,000 watchers of a session as cheap as plain ws', worst(FAN_OUT)),
    fanOut(
      'fan-out to 1,000 subscribers of a channel as cheap as plain ws',
      find({ ...FAN_OUT, subject: 'Parlance, pusher channel' }),
    ),
    append('append p99 under 10 ms at 1,000 acknowledged messages a second'),
    times(
      'a chat request takes at most twice as long as through a bare durable gateway',
      [chat, request('bare durable gateway: chat')],
      2,
    ),
    times(
      'a request with store: false takes at most 1.5 times as long as through a bare gateway',
      [request('Parlance, SQLite: unstored'), request('bare gateway: chat')],
      1.5,
    ),
    times('a chat request: p99 at most four times p50', [request('Parlance, SQLite: chat', 'p99'), chat], 4),
    times('a chat request is quicker than through Portkey', [chat, request('Portkey: chat')], 1),
    ...clusterGoals(find),
    {
      goal: 'every token arrived, in order, in every row',
      figure:
        streamed.length === 0
          ? 'not measured'
          : `${streamed.length - lost.length} of ${streamed.length} rows`,
      met: streamed.length === 0 ? null : lost.length === 0,
    },
  ];
}

export const goalsText = (goals: readonly Goal[]): string =>
  goals
    .map(({ goal, figure, met }) => {
      const verdict = met === null ? '   –   ' : met ? '  met  ' : 'NOT MET';
      return `${verdict}  ${goal}: ${figure}`;
    })
    .join('\n');
