/** The same load for any contestant: N concurrent answers, each in its own conversation. */
import type { Contestant, Lane, Running } from '../contestants/contestant.ts';
import { AnswerCheck, type Verdict } from '../measure/answer-check.ts';
import { clockSkew, sleep, timed } from '../measure/clock.ts';
import { percentile } from '../measure/percentile.ts';
import { type Used, watchTree } from '../measure/process-tree.ts';
import { quietRounds, type Rounds } from '../measure/quiet-rounds.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import type { Progress } from './table.ts';

export type StreamLoad = {
  readonly streams: number;
  readonly tokens: number;
  readonly intervalMs: number;
  /** number of rounds that count; rounds disturbed by the host are repeated */
  readonly rounds: number;
  readonly maxRounds: number;
  /** warm-up rounds: until the engine has compiled the hot code, compilation dominates */
  readonly warmUps: number;
};

const spreadMs = ({ tokens, intervalMs }: StreamLoad): number => (tokens * intervalMs) / 10;

export type RoundFigures = {
  readonly cpuPerToken: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytes: number;
  readonly missing: number;
  readonly misplaced: number;
  readonly inOrder: boolean;
  /** duration of the answers, relative to the time that the upstream needs */
  readonly stretch: number;
  /** share of the machine taken by the host, in percent */
  readonly stolen: number;
};

export type StreamFigures = RoundFigures & { readonly startMs: number; readonly clockSkew: number };

export async function measureStreams(
  contestant: Contestant,
  load: StreamLoad,
  progress: Progress,
): Promise<StreamFigures> {
  using folder = temporaryFolder();
  const upstream = await startUpstream(load.tokens, load.intervalMs);
  try {
    const { ms: startMs, given: server } = await timed(() => contestant.start(upstream.url, folder.path));
    try {
      const figures = await measureRounds(server, load, progress);
      return { ...figures, startMs, clockSkew: await clockSkew(upstream.url) };
    } finally {
      await server.stop();
    }
  } finally {
    await upstream.stop();
  }
}

/** Measures a running server. */
export async function measureRounds(
  server: Running,
  load: StreamLoad,
  progress: Progress,
): Promise<RoundFigures> {
  progress('warming up');
  await warmUp(server, load);
  const rounds = await quietRounds({ wanted: load.rounds, most: load.maxRounds }, (round) => {
    progress(`round ${round} of ${load.rounds}`);
    return measureRound(server, load);
  });
  return figuresOf(rounds, load);
}

export async function warmUp({ lane }: Running, load: StreamLoad): Promise<void> {
  for (let round = 1; round <= load.warmUps; round++)
    await playRound(await openLanes(lane, load.streams), load, []);
}

export type MeasuredRound = Used & {
  readonly ms: number;
  readonly delays: readonly number[];
  readonly received: number;
  readonly missing: number;
  readonly misplaced: number;
};

export async function measureRound(server: Running, load: StreamLoad): Promise<MeasuredRound> {
  const delays: number[] = [];
  const lanes = await openLanes(server.lane, load.streams);
  const watched = [server.pid, ...(server.others ?? [])].map((pid) => watchTree(pid));
  const { ms, given: verdicts } = await timed(() => playRound(lanes, load, delays));
  const used = watched.map((end) => end());
  return {
    cpuMicros: sumOf(used, ({ cpuMicros }) => cpuMicros),
    peakBytes: sumOf(used, ({ peakBytes }) => peakBytes),
    ms,
    delays,
    received: sumOf(verdicts, (verdict) => verdict.received),
    missing: sumOf(verdicts, (verdict) => verdict.missing),
    misplaced: sumOf(verdicts, (verdict) => verdict.misplaced),
  };
}

/** Memory and lost or misplaced tokens count in every round. */
export function figuresOf({ quietest, all, stolen }: Rounds<MeasuredRound>, load: StreamLoad): RoundFigures {
  const delays = quietest.flatMap((round) => round.delays);
  const missing = sumOf(all, (round) => round.missing);
  const misplaced = sumOf(all, (round) => round.misplaced);
  const planned = load.tokens * load.intervalMs + spreadMs(load);
  return {
    cpuPerToken: sumOf(quietest, ({ cpuMicros }) => cpuMicros) / sumOf(quietest, ({ received }) => received),
    p50: percentile(delays, 0.5) / 1_000,
    p99: percentile(delays, 0.99) / 1_000,
    megabytes: Math.max(...all.map(({ peakBytes }) => peakBytes)) / 1e6,
    missing,
    misplaced,
    inOrder: missing === 0 && misplaced === 0,
    stretch: sumOf(quietest, ({ ms }) => ms) / (quietest.length * planned),
    stolen,
  };
}

const sumOf = <Item>(items: readonly Item[], figure: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + figure(item), 0);

/** A few at a time: a thousand concurrent handshakes would measure the listen queue. */
async function openLanes(lane: () => Promise<Lane>, count: number): Promise<Lane[]> {
  const lanes: Lane[] = [];
  while (lanes.length < count) {
    const some = Math.min(50, count - lanes.length);
    lanes.push(...(await Promise.all(Array.from({ length: some }, lane))));
  }
  return lanes;
}

/**
 * Every lane asks once. Questions are spread over the first tenth of an answer, so that all lanes stream
 * concurrently for nine tenths of the time. Then the lanes are closed.
 */
async function playRound(lanes: readonly Lane[], load: StreamLoad, delays: number[]): Promise<Verdict[]> {
  const checks = lanes.map(() => new AnswerCheck(load.tokens, delays));
  const asked: Promise<void>[] = [];
  const began = performance.now();
  for (const [index, lane] of lanes.entries()) {
    const check = checks[index] as AnswerCheck;
    const due = began + (index / lanes.length) * spreadMs(load);
    if (performance.now() < due) await sleep(1);
    asked.push(lane.ask((text, at) => check.receive(text, at)));
  }
  await Promise.all(asked);
  for (const lane of lanes) lane.close();
  return checks.map((check) => check.verdict());
}
