/** Tokens through each contestant: cost, delay, and completeness. */
import { CONTESTANTS, contestantOf } from '../contestants/index.ts';
import { measureStreams, type StreamLoad } from './measure-streams.ts';
import { measureTogether } from './measure-together.ts';
import { across, type Job, type Row, type Table } from './table.ts';

const QUICK = [
  'floor',
  'socket floor',
  'by hand',
  'Parlance, agentloop',
  'Parlance, conversations',
  'Parlance, native',
  'Parlance, openai',
];

const namesOf = (contestants: typeof CONTESTANTS) => contestants.map(({ name }) => name);

export const relay: Table = {
  name: 'relay',
  title: 'Tokens from a model to people: 200 tokens an answer (quick: 100), one each 10 ms',
  unit: 'streams',
  columns: [
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'timesFloor', title: '× floor', digits: 2 },
    { key: 'timesSocketFloor', title: '× socket floor', digits: 2 },
    { key: 'spread', title: '± %', digits: 1 },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'inOrder', title: 'all in order' },
    { key: 'stretch', title: 'time taken ×', digits: 2 },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  // At 500 streams, the slow ones take five minutes or more.
  jobs: (quick) =>
    quick
      ? across(QUICK, [50])
      : [
          ...across(namesOf(CONTESTANTS), [50]),
          ...across(namesOf(CONTESTANTS.filter(({ slow }) => !slow)), [500]),
        ],
  measure: (job, progress) => measureStreams(contestantOf(job.subject), loadOf(job), progress),
  together: {
    takes: ({ subject }) => !contestantOf(subject).slow,
    measure: (jobs, progress) =>
      measureTogether(
        jobs.map(({ subject, checkout }) => contestantOf(subject, checkout)),
        loadOf(jobs[0] as Job),
        progress,
      ),
  },
  derive: (rows) => rows.map((row) => withRatios(row, rows)),
};

/** CPU per token as a multiple of the two floors. */
function withRatios(row: Row, rows: readonly Row[]): Row {
  const cpuOf = (subject: string) =>
    Number(rows.find((other) => other.subject === subject && other.size === row.size)?.figures?.cpuPerToken);
  const { figures } = row;
  if (!figures) return row;
  const own = Number(figures.cpuPerToken);
  const [timesFloor, timesSocketFloor] = [own / cpuOf('floor'), own / cpuOf('socket floor')];
  return { ...row, figures: { ...figures, timesFloor, timesSocketFloor } };
}

function loadOf({ subject, size, quick, checkout }: Job): StreamLoad {
  const { slow } = contestantOf(subject, checkout);
  return {
    streams: size,
    tokens: quick ? 100 : 200,
    intervalMs: 10,
    rounds: quick ? 1 : slow ? 3 : 7,
    maxRounds: quick ? 1 : slow ? 4 : 20,
    warmUps: quick || slow ? 1 : 4,
  };
}
