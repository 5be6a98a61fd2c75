/** The same load through any contestant: N answers at once, each with a conversation of its own. */
import type { Contestant, Lane, Running } from '../contestants/contestant.ts';
import { AnswerCheck } from '../measure/answer-check.ts';
import { clockSkew, timed } from '../measure/clock.ts';
import { percentile } from '../measure/percentile.ts';
import { watchTree } from '../measure/process-tree.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import type { Progress } from './table.ts';

export type StreamLoad = {
  readonly streams: number;
  readonly tokens: number;
  readonly intervalMs: number;
  /** measured; one more comes before them to warm up, for every contestant alike */
  readonly rounds: number;
};

export type RoundFigures = {
  readonly cpuPerToken: number;
  readonly p50: number;
  readonly p99: number;
  readonly megabytes: number;
  readonly missing: number;
  readonly misplaced: number;
  readonly inOrder: boolean;
  /** how long the answers took, against tokens × interval: 1 where nothing is late */
  readonly stretch: number;
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

/** Of a server that runs. */
export async function measureRounds(
  server: Running,
  load: StreamLoad,
  progress: Progress,
): Promise<RoundFigures> {
  progress('warming up');
  await playRound(await openLanes(server.lane, load.streams), load.tokens, []);
  const delays: number[] = [];
  const sums = { cpu: 0, peak: 0, received: 0, missing: 0, misplaced: 0, ms: 0 };
  for (let round = 1; round <= load.rounds; round++) {
    progress(`round ${round} of ${load.rounds}`);
    const lanes = await openLanes(server.lane, load.streams);
    const used = watchTree(server.pid);
    const { ms, given: verdicts } = await timed(() => playRound(lanes, load.tokens, delays));
    const { cpuMicros, peakBytes } = used();
    sums.cpu += cpuMicros;
    sums.peak = Math.max(sums.peak, peakBytes);
    sums.ms += ms;
    for (const { received, missing, misplaced } of verdicts) {
      sums.received += received;
      sums.missing += missing;
      sums.misplaced += misplaced;
    }
  }
  return {
    cpuPerToken: sums.cpu / sums.received,
    p50: percentile(delays, 0.5) / 1_000,
    p99: percentile(delays, 0.99) / 1_000,
    megabytes: sums.peak / 1e6,
    missing: sums.missing,
    misplaced: sums.misplaced,
    inOrder: sums.missing === 0 && sums.misplaced === 0,
    stretch: sums.ms / (load.rounds * load.tokens * load.intervalMs),
  };
}

/** A few at a time: a thousand handshakes at once would measure the listen queue. */
export async function openLanes(lane: () => Promise<Lane>, count: number): Promise<Lane[]> {
  const lanes: Lane[] = [];
  while (lanes.length < count) {
    const some = Math.min(50, count - lanes.length);
    lanes.push(...(await Promise.all(Array.from({ length: some }, lane))));
  }
  return lanes;
}

/** Every lane asks once, all at the same time; the lanes are closed when all have their answer. */
export async function playRound(lanes: readonly Lane[], tokens: number, delays: number[]) {
  const checks = lanes.map(() => new AnswerCheck(tokens, delays));
  const asked = lanes.map((lane, index) => {
    const check = checks[index] as AnswerCheck;
    return lane.ask((text, at) => check.hear(text, at));
  });
  await Promise.all(asked);
  for (const lane of lanes) lane.close();
  return checks.map((check) => check.verdict());
}
