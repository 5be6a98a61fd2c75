/** A database shared by several nodes, and the bus between them. Loaded only if configured. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { openMemoryNetwork } from '../cluster/memory-transport.ts';
import { joinCluster } from '../cluster/remote-network.ts';
import type { Transport, WakeUps } from '../cluster/transport.ts';
import type { Config } from '../config/config.ts';
import { openPostgresStore, type PostgresStore } from '../stores/postgres/open.ts';
import { openWakeUps } from '../stores/postgres/wake-up.ts';
import { leasedWrite } from './leased-writes.ts';
import type { Storage, StorageParts } from './storage.ts';

/** Interval for taking over sessions without a driver, in milliseconds. */
const SWEEP_MS = 250;
/** Interval for detecting dead nodes, in milliseconds. */
const NODES_MS = 1_000;
/** Timeout of the readiness check, in milliseconds. */
const READY_MS = 2_000;

/** Users, keys or settings have changed. */
const CHANGED = { kind: 'accounts-changed', body: null } as const;
const CONFIRM_MS = 300;

export type SharedConfig = Config & { readonly database: string };

export async function openShared(
  config: SharedConfig,
  parts: StorageParts,
  resources: AsyncDisposableStack,
): Promise<Storage> {
  const { log, metrics } = parts;
  const { database, databaseDirect: directUrl = database, databasePool: connections } = config;
  const store = await openPostgresStore(database, {
    log,
    directUrl,
    connections,
    onCommit: (appends) => metrics.observe('append_group_size', appends),
    node: { leaseMs: config.lease, home: config.home, release: version },
  });
  resources.defer(() => store.close());
  if (config.redis !== undefined && config.folder === 'shared')
    await checkSharedFolder(config.cwd, store.cluster.id, await isFirst(store));
  metrics.gauge('lease_age_seconds', () => store.heartbeat.age / 1000);
  const transport = await openTransport(config, store, parts);
  resources.defer(() => transport.close());
  const reportBusState = () => store.heartbeat.setBusDown(!transport.up);
  reportBusState();
  transport.onUp(reportBusState);
  transport.onDown(reportBusState);
  // A revocation is acknowledged when the other nodes know of it.
  store.changes.confirmWith((node) => transport.request(node, CHANGED, CONFIRM_MS));
  transport.respond(CHANGED.kind, () => {
    store.changes.notify();
    return null;
  });
  resources.defer(forgetDeadNodes(store, transport, parts));
  const notifications = await openWakeUps(directUrl, { log });
  resources.defer(() => notifications.close());
  const wakeUps: WakeUps = {
    ...notifications,
    get needed() {
      return store.heartbeat.busDown;
    },
  };
  return {
    store,
    secret: new TextEncoder().encode(config.authSecret ?? store.cluster.secret),
    cluster: {
      transport,
      join: (member) => joinCluster({ ...member, transport, wakeUps }),
      sweepMs: SWEEP_MS,
      livingNodes: () => livingNodes(store),
      onFailover: store.onFailover,
    },
    loginAttempts: store.loginAttempts({ attempts: config.loginAttempts }),
    writable: () => leasedWrite(store, READY_MS),
    oneAtATime: store.oneAtATime,
  };
}

/** Whether this is the oldest living node. */
async function isFirst(store: PostgresStore): Promise<boolean> {
  const living = (await store.nodes()).filter(({ alive }) => alive);
  living.sort((one, other) => one.startedAt - other.startedAt || (one.id < other.id ? -1 : 1));
  return living.length === 0 || living[0]?.id === store.leases.node;
}

async function livingNodes(store: PostgresStore): Promise<ReadonlySet<string>> {
  return new Set((await store.nodes()).filter(({ alive }) => alive).map(({ id }) => id));
}

/** Without a bus, nodes notify each other through the database. */
async function openTransport(
  { redis }: SharedConfig,
  { cluster, leases }: PostgresStore,
  { log, metrics }: StorageParts,
): Promise<Transport> {
  const options = { node: leases.node, cluster: cluster.id, secret: cluster.secret, log };
  if (redis === undefined) {
    const network = openMemoryNetwork();
    const transport = network.open(leases.node, options);
    network.down();
    return transport;
  }
  const { openValkeyTransport } = await import('../cluster/valkey/transport.ts');
  return openValkeyTransport({ ...options, server: { url: redis }, meter: metrics });
}

/** Drops the registry entries of nodes whose lease has expired. */
function forgetDeadNodes(store: PostgresStore, transport: Transport, { log }: StorageParts): () => void {
  const { others, registry } = transport;
  const forget = async (): Promise<void> => {
    if (others.nodes.length === 0) return;
    for (const { id, alive } of await store.nodes())
      if (!alive && others.nodes.includes(id)) registry.forget(id);
  };
  const timer = setInterval(() => {
    if (transport.up) forget().catch((err) => log.debug({ err }, 'failed to read nodes'));
  }, NODES_MS);
  timer.unref();
  return () => clearInterval(timer);
}

// Checks that all nodes use the same working directory.

const MARKER_FILE = '.parlance-cluster';

/** If several nodes start together, the first may not have created the file yet. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/**
 * A marker file names the cluster; the first node creates it. Throws if it is missing or names another
 * cluster, because this node would then work on different files.
 */
async function checkSharedFolder(folder: string, cluster: string, isFirst: boolean): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const read = () => readFile(path, 'utf8').catch(() => null);
  let found = await read();
  if (found === null && isFirst) {
    await mkdir(folder, { recursive: true });
    await writeFile(path, `${cluster}\n`);
    return;
  }
  const deadline = performance.now() + PATIENCE_MS;
  while (found === null && performance.now() < deadline) {
    await Bun.sleep(LOOK_AGAIN_MS);
    found = await read();
  }
  if (found?.trim() === cluster) return;
  const problem = found === null ? 'is not the one that the other nodes use' : 'belongs to another cluster';
  throw new Error(
    `the working directory ${folder} ${problem}: share one folder between all nodes (--cwd), or set PARLANCE_FOLDER=own`,
  );
}
