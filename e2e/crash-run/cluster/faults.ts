/** The kinds of faults on several nodes, and how each is repaired. */
import { waitLimit } from '../../../packages/server/src/testing/until.ts';
import type { Cluster } from '../../cluster/nodes.ts';
import type { Program, ServerProcess } from '../../server-process.ts';
import { noDisk } from '../../small-disk.ts';
import type { Fault, FaultLog } from '../fault-log.ts';
import type { Random } from '../random.ts';
import { noFakeClock } from './clock.ts';
import type { ReplicatedDatabase } from './database.ts';
import type { ClusterLives } from './lives.ts';
import type { Machines } from './machine.ts';

export type Parts = {
  readonly cluster: Cluster;
  readonly database: ReplicatedDatabase;
  readonly machines: Machines;
  readonly lives: ClusterLives;
  readonly faults: FaultLog;
  readonly random: Random;
  /** nodes of another version that still run, by their address */
  readonly previous: Map<string, Program>;
  readonly onError: (what: string) => void;
};

type FaultKind = {
  /** how often, compared to others */
  readonly share: number;
  /** faults of the same part happen one after another; default: those of the same kind */
  readonly part?: 'valkey' | 'database';
  /** why it is left out here; null if it is not */
  readonly missing?: string | null;
  /** Resolves with a repair function when the fault has happened. */
  happen(parts: Parts): Promise<() => Promise<Fault>>;
};

/** A node that starts while the database is down or slow exits with an error, and is restarted. */
export async function supervised<Node>(start: () => Promise<Node>): Promise<Node> {
  for (const began = performance.now(); ; ) {
    try {
      return await start();
    } catch (thrown) {
      if (performance.now() - began > waitLimit()) throw thrown;
      await Bun.sleep(100);
    }
  }
}

const anyNode = ({ lives, random }: Parts): number => random.between(0, lives.count - 1);

/** Ends one node, whose clients go elsewhere. */
async function leave(
  parts: Parts,
  end: (process: ServerProcess) => unknown,
  which = anyNode(parts),
): Promise<ServerProcess> {
  const [left] = await parts.lives.leave([which], end);
  if (!left) throw new Error('there is no node');
  return left;
}

/** Clients of all nodes wait, and reconnect when the nodes are ready. */
async function withoutDatabase(
  kind: string,
  { lives, faults }: Parts,
  { fail, repair }: { fail(): Promise<unknown>; repair(): Promise<unknown> },
): Promise<() => Promise<Fault>> {
  const all = Array.from({ length: lives.count }, (_, index) => index);
  lives.databaseAway = true;
  await fail();
  const nodes = await lives.leave(all, () => undefined);
  return async () => {
    await repair();
    lives.databaseAway = false;
    const fault = faults.begin(kind);
    await Promise.all(nodes.map((node) => lives.join(node)));
    return fault;
  };
}

const HOUR_SECONDS = 3_600;

const KINDS = {
  /** SIGKILL */
  node: {
    share: 5,
    async happen(parts) {
      const { machines, lives, faults, previous } = parts;
      const since = Date.now();
      const killed = await leave(parts, (process) => process.kill());
      const fault = faults.begin('node', since);
      const program = previous.get(killed.http);
      previous.delete(killed.http);
      machines.remove(killed);
      return async () => {
        const started = await supervised(() => machines.start(program));
        if (program) previous.set(started.http, program);
        await lives.join(started);
        return fault;
      };
    },
  },

  /** SIGSTOP, longer than the lease */
  pause: {
    share: 1,
    async happen(parts) {
      const { lives, faults, random } = parts;
      const since = Date.now();
      const paused = await leave(parts, ({ pid }) => process.kill(pid, 'SIGSTOP'));
      const fault = faults.begin('pause', since);
      return async () => {
        await Bun.sleep(random.between(2_000, 4_000));
        process.kill(paused.pid, 'SIGCONT');
        await lives.join(paused);
        return fault;
      };
    },
  },

  /** The wall clock of a node is wrong for a while. Its clients stay. */
  clock: {
    share: 1,
    missing: noFakeClock,
    async happen(parts) {
      const { lives, machines, faults, random } = parts;
      const { clock } = machines.of(lives.at(anyNode(parts)));
      const seconds = random.pick([-2, -1, 1, 2] as const) * HOUR_SECONDS;
      clock.set(seconds);
      const fault = faults.begin('clock', Date.now(), 'nothing');
      return async () => {
        await Bun.sleep(random.between(2_000, 4_000));
        clock.set(0);
        return fault;
      };
    },
  },

  /** SIGTERM, and the next version, or the same one if there is no other. */
  upgrade: {
    share: 1,
    async happen(parts) {
      const { machines, lives, faults, previous } = parts;
      const old = lives.indexWhere(({ http }) => previous.has(http));
      const fault = faults.begin(old < 0 ? 'rolling restart' : 'upgrade');
      const stopped = await leave(parts, (process) => process.terminate(), old < 0 ? undefined : old);
      previous.delete(stopped.http);
      machines.remove(stopped);
      return async () => {
        await lives.join(await supervised(() => machines.start()));
        return fault;
      };
    },
  },

  /** A node does not reach PostgreSQL, and notices it only by the silence. */
  'postgres-cut': {
    share: 1,
    async happen(parts) {
      const { lives, machines, faults, random } = parts;
      const since = Date.now();
      const node = await leave(parts, (process) => machines.of(process).database.cut());
      const fault = faults.begin('postgres-cut', since);
      return async () => {
        await Bun.sleep(random.between(500, 5_000));
        machines.of(node).database.heal(random.pick(['late', 'reset'] as const));
        await lives.join(node);
        return fault;
      };
    },
  },

  /** A node does not reach Valkey. Its clients stay. */
  'valkey-cut': {
    share: 1,
    async happen(parts) {
      const { lives, machines, faults, random } = parts;
      const { valkey } = machines.of(lives.at(anyNode(parts)));
      valkey.cut();
      const fault = faults.begin('valkey-cut', Date.now(), 'nothing');
      return async () => {
        await Bun.sleep(random.between(500, 5_000));
        valkey.heal(random.pick(['late', 'reset'] as const));
        return fault;
      };
    },
  },

  /** SIGKILL of Valkey. Clients are not disconnected: everything continues. */
  valkey: {
    share: 2,
    part: 'valkey',
    async happen({ cluster, faults, random }) {
      await cluster.redis.kill();
      const fault = faults.begin('valkey', Date.now(), 'nothing');
      return async () => {
        await Bun.sleep(random.between(100, 1_500));
        await cluster.redis.restart();
        return fault;
      };
    },
  },

  /** FLUSHALL: connections stay, entries are gone. */
  flush: {
    share: 1,
    part: 'valkey',
    async happen({ cluster, faults }) {
      const client = new Bun.RedisClient(cluster.redis.url);
      await client.send('FLUSHALL', []);
      client.close();
      const fault = faults.begin('flush', Date.now(), 'nothing');
      return async () => fault;
    },
  },

  /** SIGKILL of PostgreSQL, and a restart. */
  postgres: {
    share: 2,
    part: 'database',
    happen: (parts) =>
      withoutDatabase('postgres', parts, {
        fail: () => parts.database.kill(),
        async repair() {
          await Bun.sleep(parts.random.between(0, 1_000));
          await parts.database.restart();
        },
      }),
  },

  /** SIGKILL of the primary; the synchronous standby is promoted. */
  failover: {
    share: 1,
    part: 'database',
    async happen(parts) {
      const { database } = parts;
      const repair = await withoutDatabase('failover', parts, {
        fail: () => database.kill(),
        repair: () => database.failOver(),
      });
      return async () => {
        const fault = await repair();
        await database.addStandby();
        return fault;
      };
    },
  },

  /** No space for PostgreSQL, which then stops or refuses writes. */
  disk: {
    share: 1,
    part: 'database',
    missing: noDisk ? 'a small disk cannot be mounted' : null,
    happen: (parts) =>
      withoutDatabase('disk', parts, {
        async fail() {
          parts.database.fillDisk();
          // Clients continue for a while: what is acknowledged now is at stake.
          await Bun.sleep(parts.random.between(0, 1_000));
        },
        async repair() {
          parts.database.freeDisk();
          await parts.database.kill();
          await parts.database.restart();
        },
      }),
  },
} as const satisfies Record<string, FaultKind>;

export type Target = keyof typeof KINDS;
export const TARGETS = Object.keys(KINDS) as readonly Target[];
export const kindOf = (target: Target): FaultKind => KINDS[target];
export const usable = (target: Target): boolean => (kindOf(target).missing ?? null) === null;
