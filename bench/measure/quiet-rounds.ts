/**
 * The host of a virtual machine sometimes takes processors away for tens of milliseconds, so that a delay
 * measures its other guests. Such rounds are repeated, for every contestant alike, and the quietest ones
 * count.
 */
import { readFileSync } from 'node:fs';
import { sleep } from './clock.ts';

/** Share of total processor time: well below the 1 % of delays that p99 shows. */
const DISTURBED = 0.0025;
/** Other guests are busy for seconds: wait before the next round. */
const PAUSE_MS = 3_000;

/** `stolen`: share of total processor time taken by the host. */
export type Played<Round> = { readonly round: Round; readonly stolen: number };

export type Rounds<Round> = {
  /** the quietest, as many as requested */
  readonly quietest: readonly Round[];
  readonly all: readonly Round[];
  /** steal time of the quietest, in percent */
  readonly stolen: number;
};

export type RoundCount = { readonly wanted: number; readonly most: number };

/** Plays until `wanted` rounds were quiet, and at most `most`. */
export async function quietRounds<Round>(
  { wanted, most }: RoundCount,
  play: (round: number) => Promise<Round>,
  { processors = readProcessors, pause = () => sleep(PAUSE_MS) }: Machine = {},
): Promise<Rounds<Round>> {
  const played: Played<Round>[] = [];
  while (played.length < most && played.filter(isQuiet).length < wanted) {
    const one = await playRound(() => play(played.length + 1), processors);
    played.push(one);
    if (!isQuiet(one) && played.length < most) await pause();
  }
  return quietestOf(played, wanted);
}

export async function playRound<Round>(
  play: () => Promise<Round>,
  processors = readProcessors,
): Promise<Played<Round>> {
  const before = processors();
  const round = await play();
  const after = processors();
  return { round, stolen: (after.stolen - before.stolen) / Math.max(1, after.all - before.all) };
}

export const isQuiet = ({ stolen }: Played<unknown>): boolean => stolen <= DISTURBED;

export function quietestOf<Round>(played: readonly Played<Round>[], wanted: number): Rounds<Round> {
  const quietest = played.toSorted((one, other) => one.stolen - other.stolen).slice(0, wanted);
  const share = quietest.reduce((sum, { stolen }) => sum + stolen, 0) / quietest.length;
  return {
    quietest: quietest.map(({ round }) => round),
    all: played.map(({ round }) => round),
    stolen: share * 100,
  };
}

type Machine = { readonly processors?: () => Processors; readonly pause?: () => Promise<unknown> };

type Processors = { readonly all: number; readonly stolen: number };

/** Ticks of all processors since boot. */
function readProcessors(): Processors {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  // user, nice, system, idle, iowait, irq, softirq, steal; the guests after it are in user and nice already
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: ticks.reduce((sum, tick) => sum + tick, 0), stolen: ticks[7] ?? 0 };
}
