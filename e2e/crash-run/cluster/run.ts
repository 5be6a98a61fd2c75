/**
 * One run on three nodes: clients of every dialect send messages, faults happen to nodes, databases and the
 * network between them, and the result is checked.
 */
import { slowness } from '../../../packages/server/src/testing/until.ts';
import { startCluster } from '../../cluster/nodes.ts';
import { login, type Program } from '../../server-process.ts';
import { collect } from '../afterwards.ts';
import { check } from '../checker.ts';
import type { RunContext } from '../client.ts';
import { FaultLog, recoveriesOf } from '../fault-log.ts';
import { History } from '../history.ts';
import { checkHistory } from '../history-checker.ts';
import { Ledger } from '../ledger.ts';
import { Moments } from '../moments.ts';
import { seeded } from '../random.ts';
import { AFTERWARDS_MS, MANY_KEYS, type Options, type Outcome } from '../run.ts';
import { finished, startClients } from '../run-clients.ts';
import { prepareFolder } from '../working-folder.ts';
import { startReplicated } from './database.ts';
import { supervised, TARGETS, type Target, usable } from './faults.ts';
import { killingCluster } from './killer.ts';
import { observeLeases } from './lease-observer.ts';
import { ClusterLives } from './lives.ts';
import { Machines } from './machine.ts';

/** Beyond the lease, on an idle machine. */
const MAX_RECOVERY_MS = 500;
const NODES = 3;
const LEASE_MS = 1_500;

export async function runCluster({
  seed,
  kills,
  seconds,
  more = 0,
  targets = TARGETS.filter(usable),
  previous: checkout,
  history: path,
  onError = () => undefined,
}: Options & {
  /** additional clients of each dialect */
  readonly more?: number;
  /** the kinds of faults; default: everything that this machine can do */
  readonly targets?: readonly Target[];
  /** the folder of an earlier version, which the first nodes run */
  readonly previous?: string | undefined;
}): Promise<Outcome> {
  const until = performance.now() + Math.max(seconds * 1_000 - AFTERWARDS_MS * (more + 1), seconds * 300);
  const random = seeded(seed);
  // A starved node must not look like a failed one.
  const leaseMs = Math.round(LEASE_MS * Math.max(1, slowness() / 3));
  const maxRecoveryMs = Math.round(leaseMs + MAX_RECOVERY_MS * slowness());
  const common = { PARLANCE_OFFLINE_DELAY: '1', PARLANCE_LEASE: String(leaseMs), PARLANCE_GRACE: '1000' };
  const database = await startReplicated();
  const cluster = await startCluster({ ...common, ...MANY_KEYS }, database);
  // Also if the run itself is stopped: remaining processes would never exit.
  const cleanUp = () => {
    cluster.abandon();
    database.abandon();
  };
  process.on('exit', cleanUp);
  const machines = new Machines(cluster, prepareFolder(cluster.folder));
  try {
    const moments = new Moments();
    const lives = new ClusterLives();
    // Longer than a lease: other nodes have taken over the sessions of a failed node.
    const calmMs = leaseMs + 800;
    const faults = new FaultLog(calmMs);
    const history = new History({ history: 1, seed, nodes: NODES }, path);
    const ledger = new Ledger(history, moments, { onAcknowledged: () => faults.acknowledged(), onError });
    const previous = new Map<string, Program>();
    for (let node = 0; node < NODES; node++) {
      const program = checkout === undefined ? undefined : { checkout };
      const started = await supervised(() => machines.start(program));
      if (program) previous.set(started.http, program);
      await lives.join(started);
    }
    const { server } = await lives.up();
    const token = await login(server, 'dev', 'dev-password');
    const run: RunContext = { victim: lives, ledger, token, stopping: false };
    const clients = startClients(run, random, more);
    const observing = observeLeases(cluster, history, run);
    const parts = { cluster, database, machines, lives, faults, previous, moments, calmMs, onError };
    const recovered = await killingCluster(
      { ...parts, random: random.branch('killer') },
      { kills, until, targets },
    );
    if (!recovered) ledger.recordError('nodes', 'no longer acknowledge messages');
    run.stopping = true;
    await Promise.all([finished(clients, ledger), observing]);
    const life = await lives.up();
    const evidence = await collect(life.server, { token, folder: cluster.folder, ledger });
    const resumptions = (alone: boolean) =>
      faults.resumptions(evidence.events.values(), { alone }).map(({ ms }) => ms);
    return {
      faults,
      times: [
        {
          what: 'until the first acknowledged message',
          values: recoveriesOf(faults.faults),
          under: maxRecoveryMs,
        },
        { what: 'until an interrupted turn was resumed', values: resumptions(true), under: maxRecoveryMs },
        {
          what: 'the same, after faults that followed quickly as well',
          values: resumptions(false),
        },
      ],
      evidence,
      violations: [...check(evidence), ...checkHistory(history.operations)],
    };
  } finally {
    process.off('exit', cleanUp);
    await cluster.stop();
    machines.close();
  }
}
