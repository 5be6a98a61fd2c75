/**
 * One run on three nodes: clients of every dialect send messages, nodes and databases are killed, and the
 * result is checked.
 */
import { startCluster } from '../../cluster/nodes.ts';
import { login } from '../../server-process.ts';
import { collect } from '../afterwards.ts';
import { check } from '../checker.ts';
import type { RunContext } from '../client.ts';
import { Ledger } from '../ledger.ts';
import { Moments } from '../moments.ts';
import { seeded } from '../random.ts';
import { AFTERWARDS_MS, type Options, type Outcome } from '../run.ts';
import { finished, startClients } from '../run-clients.ts';
import { prepareFolder } from '../working-folder.ts';
import { Episodes } from './episodes.ts';
import { killingCluster, TARGETS, type Target } from './killer.ts';
import { ClusterLives } from './lives.ts';

const MAX_RECOVERY_MS = 2_000;
const NODES = 3;

export async function runCluster({
  seed,
  kills,
  seconds,
  more = 0,
  targets = TARGETS,
  onError = () => undefined,
}: Options & {
  /** additional clients of each dialect */
  readonly more?: number;
  /** what is killed or paused; default: everything */
  readonly targets?: readonly [Target, ...Target[]];
}): Promise<Outcome> {
  const until = performance.now() + Math.max(seconds * 1_000 - AFTERWARDS_MS * (more + 1), seconds * 300);
  const random = seeded(seed);
  const episodes = new Episodes();
  const cluster = await startCluster({
    PARLANCE_OFFLINE_DELAY: '1',
    PARLANCE_LEASE: String(episodes.leaseMs),
  });
  // Also if the run itself is stopped: remaining processes would never exit.
  const cleanUp = () => cluster.abandon();
  process.on('exit', cleanUp);
  try {
    const settings = prepareFolder(cluster.folder);
    const moments = new Moments();
    const lives = new ClusterLives();
    const ledger = new Ledger(moments, () => episodes.acknowledged(), onError);
    for (let node = 0; node < NODES; node++) await lives.join(await cluster.start(settings));
    const { server } = await lives.up();
    const token = await login(server, 'dev', 'dev-password');
    const run: RunContext = { victim: lives, ledger, token, stopping: false };
    const clients = startClients(run, random, more);
    const parts = { cluster, settings, lives, episodes, moments, random: random.branch('killer') };
    const killed = await killingCluster(parts, { kills, until, targets });
    if (!killed.recovered) ledger.recordError('nodes', 'no longer acknowledge messages');
    run.stopping = true;
    await finished(clients, ledger);
    const life = await lives.up();
    const evidence = await collect(life.server, { token, folder: cluster.folder, ledger });
    return {
      kills: killed.kills,
      hits: killed.hits,
      times: [
        {
          what: 'until the first acknowledged message',
          values: episodes.services,
          under: MAX_RECOVERY_MS,
        },
        {
          what: 'until an interrupted turn was resumed',
          values: episodes.resumptions(evidence.events.values(), { alone: true }),
          under: MAX_RECOVERY_MS,
        },
        {
          what: 'the same, after failures that followed quickly as well',
          values: episodes.resumptions(evidence.events.values(), { alone: false }),
        },
      ],
      evidence,
      violations: check(evidence),
    };
  } finally {
    process.off('exit', cleanUp);
    await cluster.stop();
  }
}
