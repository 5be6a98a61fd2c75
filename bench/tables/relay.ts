/** Tokens through each contestant: what one costs, how late it is, and whether all came in order. */
import { CONTESTANTS, contestantOf } from '../contestants/index.ts';
import { measureStreams } from './measure-streams.ts';
import { across, type Table } from './table.ts';

const QUICK = ['floor', 'by hand', 'Parlance, agentloop', 'Parlance, conversations', 'Parlance, native'];

const namesOf = (contestants: typeof CONTESTANTS) => contestants.map(({ name }) => name);

export const relay: Table = {
  name: 'relay',
  title: 'Tokens from a model to people: 200 tokens an answer (quick: 100), one each 10 ms',
  unit: 'streams',
  columns: [
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'inOrder', title: 'all in order' },
    { key: 'stretch', title: 'time taken ×', digits: 2 },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  // At 500 streams the slow ones take five minutes and more.
  jobs: (quick) =>
    quick
      ? across(QUICK, [50])
      : [
          ...across(namesOf(CONTESTANTS), [50]),
          ...across(namesOf(CONTESTANTS.filter(({ slow }) => !slow)), [500]),
        ],
  async measure(job, progress) {
    const contestant = contestantOf(job.subject);
    const load = {
      streams: job.size,
      tokens: job.quick ? 100 : 200,
      intervalMs: 10,
      rounds: job.quick ? 1 : 3,
      mostRounds: job.quick ? 1 : contestant.slow ? 4 : 20,
      warmUps: job.quick || contestant.slow ? 1 : 4,
    };
    return measureStreams(contestant, load, progress);
  },
};
