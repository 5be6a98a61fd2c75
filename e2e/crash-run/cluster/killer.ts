/**
 * Kills nodes, Valkey and PostgreSQL, pauses nodes, and restarts everything, at times that the seed determines.
 */
import { waitLimit } from '../../../packages/server/src/testing/until.ts';
import type { Cluster } from '../../cluster/nodes.ts';
import type { Hits, Killing } from '../killer.ts';
import { MOMENTS, type Moments } from '../moments.ts';
import type { Random } from '../random.ts';
import type { Episodes } from './episodes.ts';
import type { ClusterLives } from './lives.ts';

export const TARGETS = ['node', 'pause', 'valkey', 'postgres'] as const;
export type Target = (typeof TARGETS)[number];

/** out of ten failures */
const SHARES: Readonly<Record<Target, number>> = { node: 5, pause: 1, valkey: 2, postgres: 2 };

/** Timeout of a moment. */
const PATIENCE_MS = 500;
/** The probability that the next kill follows while nodes still take over sessions. */
const TWICE = 0.2;

type Parts = {
  readonly cluster: Cluster;
  /** settings of each node */
  readonly settings: Record<string, string>;
  readonly lives: ClusterLives;
  readonly episodes: Episodes;
  readonly moments: Moments;
  readonly random: Random;
};

export async function killingCluster(
  parts: Parts,
  { kills, until, targets }: Killing & { readonly targets: readonly [Target, ...Target[]] },
): Promise<{ kills: number; hits: Hits; recovered: boolean }> {
  const { lives, episodes, moments, random } = parts;
  const hits: Hits = new Map();
  const repairs = new Map<Target, Promise<void>>();
  const [first] = targets;
  const weighted = [
    first,
    ...targets.flatMap((target) => Array<Target>(SHARES[target]).fill(target)),
  ] as const;
  let count = 0;
  while (count < kills && performance.now() < until) {
    if (!(await episodes.recovered())) return { kills: count, hits, recovered: false };
    if (!random.chance(TWICE)) await Bun.sleep(episodes.calmMs);
    if (random.chance(0.5)) await moments.next(random.pick(MOMENTS), PATIENCE_MS);
    await Bun.sleep(random.between(0, 100));
    const target = random.pick(weighted);
    // One failure of each kind at a time, and one node always remains.
    await repairs.get(target);
    while (lives.count < 2) await Bun.sleep(10);
    const repair = (await FAULTS[target](parts))();
    repairs.set(target, repair);
    // A failed repair becomes visible to the clients.
    repair.catch(() => undefined);
    hits.set(target, (hits.get(target) ?? 0) + 1);
    count++;
  }
  const recovered = await episodes.recovered();
  await Promise.all(repairs.values());
  return { kills: count, hits, recovered };
}

/** Resolves with a repair function when the failure has happened. */
type Fault = (parts: Parts) => Promise<() => Promise<void>>;

/** A node that starts while the database is down exits with an error, and is restarted. */
async function supervised<Node>(start: () => Promise<Node>): Promise<Node> {
  for (const began = performance.now(); ; ) {
    try {
      return await start();
    } catch (thrown) {
      if (performance.now() - began > waitLimit()) throw thrown;
      await Bun.sleep(100);
    }
  }
}

const anyNode = ({ lives, random }: Parts): number[] => [random.between(0, lives.count - 1)];

const FAULTS: Readonly<Record<Target, Fault>> = {
  async node(parts) {
    const { cluster, settings, lives, episodes } = parts;
    const since = Date.now();
    await lives.leave(anyNode(parts), (process) => process.kill());
    episodes.begin(since);
    return async () => lives.join(await supervised(() => cluster.start(settings)));
  },

  async pause(parts) {
    const { lives, episodes, random } = parts;
    const since = Date.now();
    const [paused] = await lives.leave(anyNode(parts), ({ pid }) => process.kill(pid, 'SIGSTOP'));
    episodes.begin(since);
    return async () => {
      await Bun.sleep(random.between(2_000, 4_000));
      if (!paused) return;
      process.kill(paused.pid, 'SIGCONT');
      await lives.join(paused);
    };
  },

  /** Clients are not disconnected: everything continues. */
  async valkey({ cluster, episodes, random }) {
    await cluster.redis.kill();
    episodes.begin(Date.now(), 'nothing');
    return async () => {
      await Bun.sleep(random.between(100, 1_500));
      await cluster.redis.restart();
    };
  },

  /** Clients reconnect when the nodes are ready. */
  async postgres({ cluster, lives, episodes, random }) {
    const all = Array.from({ length: lives.count }, (_, index) => index);
    lives.databaseAway = true;
    await cluster.postgres.kill();
    const nodes = await lives.leave(all, () => undefined);
    return async () => {
      await Bun.sleep(random.between(0, 1_000));
      await cluster.postgres.restart();
      lives.databaseAway = false;
      episodes.begin(Date.now());
      await Promise.all(nodes.map((node) => lives.join(node)));
    };
  },
};
