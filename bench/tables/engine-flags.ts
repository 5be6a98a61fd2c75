/** Parlance with the runtime's default settings, and with the profile for small machines. */
import { type Contestant, inRepository } from '../contestants/contestant.ts';
import { parlanceIn } from '../contestants/parlance.ts';
import { measureStreams } from './measure-streams.ts';
import { measureTogether } from './measure-together.ts';
import { across, type Job, type Table } from './table.ts';

const PROFILES: Readonly<Record<string, Record<string, string>>> = {
  default: {},
  small: { PARLANCE_PROFILE: 'small' },
};

function contestantOf({ subject }: Job): Contestant {
  const [agentloop] = parlanceIn(inRepository('.'), PROFILES[subject]);
  return { ...(agentloop as Contestant), name: subject };
}

const loadOf = ({ size }: Job) => ({
  streams: size,
  tokens: 200,
  intervalMs: 10,
  rounds: 7,
  maxRounds: 20,
  warmUps: 4,
});

export const engineFlags: Table = {
  name: 'engine-flags',
  title: 'Profiles of the JavaScript engine: Parlance, agentloop',
  unit: 'streams',
  withinCheckout: true,
  columns: [
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'spread', title: '± %', digits: 1 },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'emptyMegabytes', title: 'MB at start' },
    { key: 'inOrder', title: 'all in order' },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  jobs: (quick) => (quick ? [] : across(Object.keys(PROFILES), [50, 500])),
  measure: (job, progress) => measureStreams(contestantOf(job), loadOf(job), progress),
  together: {
    takes: () => true,
    measure: (jobs, progress) => measureTogether(jobs.map(contestantOf), loadOf(jobs[0] as Job), progress),
  },
};
