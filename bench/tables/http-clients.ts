/** HTTP clients for model APIs behind one interface, in the same bare relay. */
import type { Contestant } from '../contestants/contestant.ts';
import { relayContestant } from '../contestants/floor.ts';
import { measureStreams } from './measure-streams.ts';
import { measureTogether } from './measure-together.ts';
import { across, type Job, type Table } from './table.ts';

const CLIENTS = ['fetch', 'undici', 'socket'];

const contestantOf = ({ subject }: Job): Contestant =>
  relayContestant(subject, `SSE over the HTTP client ${subject}`, ['http-clients/relay-server.ts', subject]);

const loadOf = ({ size }: Job) => ({
  streams: size,
  tokens: 200,
  intervalMs: 10,
  rounds: 7,
  maxRounds: 20,
  warmUps: 4,
});

export const httpClients: Table = {
  name: 'http-clients',
  title: 'HTTP clients for model APIs, in the same bare relay',
  unit: 'streams',
  withinCheckout: true,
  columns: [
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'spread', title: '± %', digits: 1 },
    { key: 'cpuPerStream', title: 'CPU ms/stream', digits: 2 },
    { key: 'kilobytesPerStream', title: 'KB/stream' },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'inOrder', title: 'all in order' },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  jobs: (quick) => (quick ? [] : across(CLIENTS, [50, 500])),
  measure: (job, progress) => measureStreams(contestantOf(job), loadOf(job), progress),
  together: {
    takes: () => true,
    measure: (jobs, progress) => measureTogether(jobs.map(contestantOf), loadOf(jobs[0] as Job), progress),
  },
  derive: (rows) =>
    rows.map((row) =>
      row.figures
        ? {
            ...row,
            figures: { ...row.figures, cpuPerStream: (Number(row.figures.cpuPerToken) * 200) / 1_000 },
          }
        : row,
    ),
};
