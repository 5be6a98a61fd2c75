/**
 * Several nodes over PostgreSQL and Valkey, compared with one node with the embedded store and a simple
 * polling worker.
 */
import type { Lane, Running } from '../contestants/contestant.ts';
import { Absent } from '../contestants/contestant.ts';
import { nativeLane, openaiAt, type ParlanceServer, startParlance } from '../contestants/parlance.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { type Engines, missingEngine, startEngines } from './cluster-engines.ts';
import { pollingTurns } from './cluster-polling.ts';
import { transactionsPerTurn } from './cluster-transactions.ts';
import { measureRounds } from './measure-streams.ts';
import type { Figures, Job, Progress, Table } from './table.ts';

const SINGLE = 'SQLite';
const OWN = 'PostgreSQL, clients on their own node';
const ELSEWHERE = 'PostgreSQL, readers on other nodes';
const POLLING = 'polling by hand';

const LOAD = { streams: 50, tokens: 200, intervalMs: 10, rounds: 3, maxRounds: 6, warmUps: 2 };
const QUICK = { ...LOAD, streams: 10, tokens: 50, rounds: 1, maxRounds: 1, warmUps: 1 };

/** Short answers, since turns are measured, not tokens. */
const SHORT = { tokens: 3, intervalMs: 1 };
const LANES_PER_NODE = 16;

export const cluster: Table = {
  name: 'cluster',
  title: 'Several nodes',
  unit: 'nodes',
  columns: [
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'turnsPerSecond', title: 'turns/s' },
    { key: 'perTurn', title: 'transactions/turn', digits: 1 },
    { key: 'withCall', title: 'with a tool call', digits: 1 },
  ],
  jobs: (quick) => {
    const nodes = quick ? [1] : [1, 2, 3];
    return [
      { subject: SINGLE, size: 1 },
      ...nodes.map((size) => ({ subject: OWN, size })),
      { subject: ELSEWHERE, size: 2 },
      ...(quick ? [] : nodes.map((size) => ({ subject: POLLING, size }))),
    ];
  },
  async measure(job, progress) {
    if (job.subject === SINGLE) return measureNodes(job, [{}], progress);
    const missing = missingEngine();
    if (missing) throw new Absent(missing);
    await using engines = await startEngines();
    const milliseconds = job.quick ? 2_000 : 10_000;
    if (job.subject === POLLING)
      return { turnsPerSecond: await pollingTurns(engines.database, { workers: job.size, milliseconds }) };
    const settings = Array.from({ length: job.size }, () => settingsOf(engines));
    const figures = await measureNodes(job, settings, progress);
    if (job.subject !== OWN || job.size > 1 || job.quick) return figures;
    progress('transactions');
    return { ...figures, ...(await transactionsPerTurn(engines, settingsOf(engines))) };
  },
};

const settingsOf = ({ database, redis }: Engines) => ({
  DATABASE_URL: database,
  REDIS_URL: redis,
  PARLANCE_FOLDER: 'own',
});

async function measureNodes(
  { subject, size, quick }: Job,
  settings: readonly Record<string, string>[],
  progress: Progress,
): Promise<Figures> {
  const load = quick ? QUICK : LOAD;
  const streamed = size === 1 || subject === ELSEWHERE;
  const figures = streamed
    ? await onNodes(settings, load, async (nodes) => {
        const { cpuPerToken, p50, p99 } = await measureRounds(runningOn(nodes), load, progress);
        return { cpuPerToken, p50, p99 };
      })
    : {};
  if (subject === ELSEWHERE) return figures;
  progress('turns');
  const turnsPerSecond = await onNodes(settings, SHORT, (nodes) => countTurns(nodes, quick ? 2_000 : 10_000));
  return { ...figures, turnsPerSecond };
}

/** Reads events on the last node, and sends commands to the first. */
function runningOn(nodes: readonly ParlanceServer[]): Running {
  const [first, ...others] = nodes;
  if (!first) throw new Error('no node');
  return {
    pid: first.pid,
    others: others.map(({ pid }) => pid),
    lane: () => nativeLane(first.http, nodes.at(-1)?.http),
    stop: first.stop,
  };
}

async function onNodes<Result>(
  settings: readonly Record<string, string>[],
  { tokens, intervalMs }: { readonly tokens: number; readonly intervalMs: number },
  work: (nodes: readonly ParlanceServer[]) => Promise<Result>,
): Promise<Result> {
  const upstream = await startUpstream(tokens, intervalMs);
  using folders = new DisposableStack();
  const nodes: ParlanceServer[] = [];
  try {
    for (const own of settings) {
      const folder = folders.use(temporaryFolder());
      nodes.push(await startParlance(folder.path, { ...openaiAt(upstream.url), ...own }));
    }
    return await work(nodes);
  } finally {
    for (const node of nodes) await node.stop();
    await upstream.stop();
  }
}

/** Maximum rate: every lane asks again as soon as it has its answer. */
async function countTurns(nodes: readonly ParlanceServer[], milliseconds: number): Promise<number> {
  const lanes: Lane[] = [];
  for (const { http } of nodes)
    lanes.push(...(await Promise.all(Array.from({ length: LANES_PER_NODE }, () => nativeLane(http)))));
  let turns = 0;
  const began = performance.now();
  await Promise.all(
    lanes.map(async (lane) => {
      while (performance.now() - began < milliseconds) {
        await lane.ask(() => undefined);
        turns++;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  for (const lane of lanes) lane.close();
  return Math.round(turns / seconds);
}
