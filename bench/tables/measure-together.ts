/**
 * The same load for several contestants with alternating rounds: other load on the machine affects all of
 * them equally, so that their ratios hold even if the figures are high.
 */
import { Absent, type Contestant, type Running } from '../contestants/contestant.ts';
import { percentile } from '../measure/percentile.ts';
import { residentBytes, treeOf } from '../measure/process-tree.ts';
import { isQuiet, type Played, playRound as played, quietestOf } from '../measure/quiet-rounds.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { figuresOf, type MeasuredRound, measureRound, type StreamLoad, warmUp } from './measure-streams.ts';
import type { Figures, Outcome, Progress } from './table.ts';

type Entrant = {
  readonly name: string;
  readonly server: Running;
  /** resident memory before the first stream */
  readonly emptyBytes: number;
  readonly rounds: Played<MeasuredRound>[];
};

/** One outcome per contestant, in order. */
export async function measureTogether(
  contestants: readonly Contestant[],
  load: StreamLoad,
  progress: Progress,
): Promise<Outcome[]> {
  using folders = new DisposableStack();
  const upstream = await startUpstream(load.tokens, load.intervalMs);
  const started: (Entrant | Outcome)[] = [];
  try {
    for (const contestant of contestants) {
      progress(`starting ${contestant.name}`);
      started.push(await entrantOf(contestant, upstream.url, folders.use(temporaryFolder()).path));
    }
    await playRounds(started.filter(isEntrant), load, progress);
    return started.map((one) =>
      isEntrant(one) ? { figures: entrantFigures(one, load), absent: null } : one,
    );
  } finally {
    for (const one of started) if (isEntrant(one)) await one.server.stop();
    await upstream.stop();
  }
}

const isEntrant = (one: Entrant | Outcome): one is Entrant => 'server' in one;

async function entrantOf(
  contestant: Contestant,
  upstream: string,
  folder: string,
): Promise<Entrant | Outcome> {
  try {
    const server = await contestant.start(upstream, folder);
    return {
      name: contestant.name,
      server,
      emptyBytes: residentBytes(treeOf(server.pid)),
      rounds: [],
    };
  } catch (thrown) {
    return { figures: null, absent: thrown instanceof Absent ? thrown.message : `failed: ${String(thrown)}` };
  }
}

/** Every entrant plays once before any plays again; the first one rotates. */
async function playRounds(entrants: readonly Entrant[], load: StreamLoad, progress: Progress): Promise<void> {
  for (const { name, server } of entrants) {
    progress(`warming up ${name}`);
    await warmUp(server, load);
  }
  const enough = () => entrants.every(({ rounds }) => rounds.filter(isQuiet).length >= load.rounds);
  for (let round = 0; round < load.maxRounds && !enough(); round++) {
    for (let turn = 0; turn < entrants.length; turn++) {
      const entrant = entrants[(round + turn) % entrants.length] as Entrant;
      progress(`round ${round + 1} of ${load.rounds}: ${entrant.name}`);
      entrant.rounds.push(await played(() => measureRound(entrant.server, load)));
    }
  }
}

function entrantFigures({ rounds, emptyBytes }: Entrant, load: StreamLoad): Figures {
  const chosen = quietestOf(rounds, load.rounds);
  const perToken = chosen.quietest.map(({ cpuMicros, received }) => cpuMicros / received);
  const middle = percentile(perToken, 0.5);
  const megabytes = percentile(
    rounds.map(({ round }) => round.peakBytes / 1e6),
    0.5,
  );
  return {
    ...figuresOf(chosen, load),
    cpuPerToken: middle,
    spread: ((percentile(perToken, 0.75) - percentile(perToken, 0.25)) / 2 / middle) * 100,
    kilobytesPerStream: ((megabytes - emptyBytes / 1e6) * 1_000) / load.streams,
    emptyMegabytes: emptyBytes / 1e6,
  };
}
