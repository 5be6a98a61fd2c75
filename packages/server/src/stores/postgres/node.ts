/** This process as a node of the cluster: heartbeat and leases. */
import { randomUUID } from 'node:crypto';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Leases } from '../../core/ports/lease.ts';
import type { Log } from '../../core/ports/logger.ts';
import type { Appender } from './append.ts';
import type { Database } from './database.ts';
import { type Heartbeat, type HeartbeatOptions, openHeartbeat } from './heartbeat.ts';
import { HeldLeases } from './held-leases.ts';
import { leaseTimes } from './lease-times.ts';
import { leave, openLeases } from './leases.ts';

export type NodeSettings = {
  /** how long a lease is valid without a heartbeat; all other times are derived from it */
  readonly leaseMs?: number;
  /** sessions created here are driven only by nodes with the same home */
  readonly home?: string;
  /** Parlance version, for operators */
  readonly release?: string;
  /** monotonic, in milliseconds */
  readonly now?: () => number;
};

export type NodeParts = {
  readonly settings: NodeSettings;
  readonly eventVersion: number;
  /** for statements of leases */
  readonly database: Database;
  /** for heartbeats only; connects directly, not through a pooler */
  readonly direct: Database;
  readonly log: Log;
  readonly onChanges: () => void;
  readonly onNewEvents: HeartbeatOptions['onNewEvents'];
};

export interface ThisNode {
  readonly heartbeat: Heartbeat;
  readonly held: HeldLeases;
  readonly leases: Leases;
  readonly appender: () => Appender;
  readonly onFailover: (listener: () => void) => () => void;
  /** Releases all leases. */
  leave(): Promise<void>;
}

/** Resolves after the first heartbeat. */
export async function joinNode(parts: NodeParts): Promise<ThisNode> {
  const { settings, eventVersion, database, direct, log, onChanges, onNewEvents } = parts;
  const { leaseMs, home = null, release = '', now } = settings;
  const id = randomUUID();
  const times = leaseTimes(leaseMs);
  const held = new HeldLeases(id);
  const lost = new Set<(lost: readonly SessionRef[] | 'all') => void>();
  const failovers = new Set<() => void>();
  const heartbeat = openHeartbeat({
    node: { id, release, eventVersion, home },
    database: direct,
    times,
    held,
    log,
    now,
    onChanges,
    onNewEvents,
    onLost: (refs) => {
      for (const listener of [...lost]) listener(refs);
    },
    onFailover: () => {
      for (const listener of [...failovers]) listener();
    },
  });
  await heartbeat.beat();
  await database.query(`DELETE FROM nodes WHERE until < now() - INTERVAL '1 day'`);
  heartbeat.start();
  const checkpoints: Appender['checkpoints'] = new WeakMap();
  return {
    heartbeat,
    held,
    leases: openLeases({
      node: id,
      home,
      database,
      heartbeat,
      held,
      onLost: added(lost),
    }),
    appender: () => ({
      node: id,
      home,
      able: heartbeat.healthy,
      mayDepose: heartbeat.mayDepose,
      checkpoints,
    }),
    onFailover: added(failovers),
    async leave() {
      await heartbeat.stop();
      await leave(database, id).catch((error) => log.warn({ err: error }, 'failed to release leases'));
    },
  };
}

const added =
  <Listener>(listeners: Set<Listener>) =>
  (listener: Listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };

const nothing = () => undefined;
const never = () => nothing;

/** For CLI commands, which append but drive nothing. */
export function withoutNode(): ThisNode {
  const checkpoints: Appender['checkpoints'] = new WeakMap();
  return {
    heartbeat: {
      healthy: false,
      mayDepose: false,
      busDown: false,
      eventVersion: 0,
      age: Number.POSITIVE_INFINITY,
      setBusDown: nothing,
      beat: async () => undefined,
      start: nothing,
      stop: async () => undefined,
    },
    held: new HeldLeases(''),
    leases: {
      node: '',
      healthy: false,
      claim: async () => null,
      release: async () => undefined,
      good: () => false,
      driverOf: async () => null,
      takeOver: async () => [],
      onLost: never,
    },
    appender: () => ({ node: '', home: null, able: false, mayDepose: false, checkpoints }),
    onFailover: never,
    leave: async () => undefined,
  };
}
