/**
 * Runs one statement per interval, on its own connection: renews the leases of this node and reads the state
 * of the cluster. Nodes compare only times of the database clock; a node judges its own leases by its
 * monotonic clock since it sent the last successful heartbeat.
 */

import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { type Clock, type ClockTimer, SYSTEM_CLOCK } from '../../lib/clock.ts';
import type { Statements } from './database.ts';
import { stateOf } from './errors.ts';
import type { HeldLeases, LeaseQuery } from './held-leases.ts';

type NodeOptions = {
  readonly id: string;
  /** Parlance version, for operators */
  readonly release: string;
  /** the newest event version that this node can read */
  readonly eventVersion: number;
  readonly home: string | null;
};

export type HeartbeatOptions = {
  readonly node: NodeOptions;
  readonly database: Statements;
  readonly times: LeaseTimes;
  readonly held: HeldLeases;
  readonly log: Log;
  readonly onChanges: () => void;
  readonly onLost: (lost: readonly SessionRef[] | 'all') => void;
  /** called after a failover of the database: the last acknowledged writes may be missing */
  readonly onFailover: () => void;
  /**
   * Called if all living nodes can read events up to this version, to allow writing them. The next heartbeat
   * reads the result.
   */
  readonly onNewEvents: (version: number) => Promise<void>;
  /** the clock of the machine by default */
  readonly clock?: Clock;
};

/** A larger difference to the database clock is logged, in milliseconds. */
const MAX_SKEW_MS = 10_000;

export interface Heartbeat {
  /** false if this node has fenced itself */
  readonly healthy: boolean;
  /** whether this node may declare other nodes dead */
  readonly mayTakeOver: boolean;
  /** whether any living node, including this one, is disconnected from the bus */
  readonly busDown: boolean;
  /**
   * the newest event version that may be written: all living nodes can read it, and no older node can join
   */
  readonly eventVersion: number;
  /** milliseconds since the last successful heartbeat was sent */
  readonly age: number;
  /** Announces whether this node is disconnected from the bus. */
  setBusDown(down: boolean): void;
  /** Sends a heartbeat now; rejects if it fails. */
  beat(): Promise<void>;
  start(): void;
  /** Stops; resolves when the current heartbeat is done. */
  stop(): Promise<void>;
}

const BEAT = `
WITH renewed AS (
  INSERT INTO nodes (id, release, event_version, home, lease_ms, until, bus_down)
  VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $5 * INTERVAL '1 millisecond', $6)
  ON CONFLICT (id) DO UPDATE SET until = excluded.until, bus_down = excluded.bus_down, heartbeats = nodes.heartbeats + 1
)
SELECT
  (SELECT changes FROM cluster) AS changes,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time,
  EXISTS (SELECT 1 FROM nodes WHERE bus_down AND until > now() AND id <> $1) AS bus_down,
  (SELECT event_version FROM cluster) AS event_version,
  (SELECT min(event_version) FROM nodes WHERE until > now() AND id <> $1) AS oldest,
  pg_postmaster_start_time()::text AS server,
  (extract(epoch FROM now() - pg_postmaster_start_time()) * 1000)::float8 AS uptime,
  (SELECT coalesce(string_agg((held.n - 1)::text, ','), '')
   FROM unnest($7::bigint[], $8::bigint[]) WITH ORDINALITY AS held (row, epoch, n)
     LEFT JOIN sessions ON sessions.row = held.row
   WHERE sessions.driver IS DISTINCT FROM $1 OR sessions.epoch <> held.epoch) AS lost`;

export function openHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { node, database, times, held, log, clock = SYSTEM_CLOCK } = options;
  const now = clock.elapsed;
  /** when the last successful heartbeat was sent */
  let sentAt = Number.NEGATIVE_INFINITY;
  let lateUntil = Number.NEGATIVE_INFINITY;
  let fenced = true;
  let ownBusDown = false;
  let busDown = false;
  let eventVersion = 0;
  let changes: string | null = null;
  let server: unknown = null;
  let timeline: string | null = null;
  let stopped = false;
  let fence: ClockTimer | null = null;
  let next: ClockTimer | null = null;
  let running: Promise<void> | null = null;
  let isAllowing = false;
  let isSkewed = false;

  /** A node that was suspended during an upgrade of the others may find events that it cannot read. */
  const tooOld = () => eventVersion > node.eventVersion;
  const healthy = () => now() - sentAt < times.fenceMs && !tooOld();

  async function beat(): Promise<void> {
    const began = now();
    const query = held.startQuery();
    let row: Readonly<Record<string, unknown>> | undefined;
    try {
      [row] = await database.query(BEAT, [
        node.id,
        node.release,
        node.eventVersion,
        node.home,
        times.leaseMs,
        ownBusDown,
        query.held.map((one) => one.row),
        query.held.map((one) => one.epoch),
      ]);
    } catch (error) {
      held.drop(query);
      lateUntil = now() + times.leaseMs;
      throw error;
    }
    const ended = now();
    const pause = Number.isFinite(sentAt) ? began - sentAt - times.intervalMs : 0;
    if (Math.max(ended - began, pause) > times.lateMs) lateUntil = ended + times.leaseMs;
    // After a restart of the database, other nodes could not renew their leases either.
    lateUntil = Math.max(lateUntil, ended + times.leaseMs - Number(row?.uptime ?? 0));
    sentAt = began;
    compareClocks(Number(row?.time), ended - began);
    await learn(row ?? {}, query);
    watchFence();
  }

  /** Leases and the order of events do not depend on this node's clock, but the expiry of tokens does. */
  function compareClocks(time: number, tookMs: number): void {
    const skewMs = clock.now() - tookMs / 2 - time;
    const wasSkewed = isSkewed;
    isSkewed = Math.abs(skewMs) > Math.max(MAX_SKEW_MS, tookMs);
    if (!isSkewed || wasSkewed) return;
    const seconds = Math.round(skewMs / 1_000);
    const how = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the clock of the database`;
    log.warn({ seconds }, `the clock of this node is ${how}: tokens expire at the wrong time, use NTP`);
  }

  async function learn(row: Readonly<Record<string, unknown>>, query: LeaseQuery): Promise<void> {
    busDown = row.bus_down === true;
    learnVersion(row);
    const before = changes;
    changes = String(row.changes);
    fenced = !healthy();
    const lost = held.lost(
      query,

      String(row.lost ?? '')
        .split(',')
        .filter(Boolean)
        .map(Number),
    );
    if (before !== null && before !== changes) options.onChanges();
    if (lost.length > 0) options.onLost(lost);
    if (server !== row.server && (await checkTimeline())) server = row.server;
  }

  function learnVersion(row: Readonly<Record<string, unknown>>): void {
    const before = eventVersion;
    eventVersion = Number(row.event_version);
    if (tooOld() && before !== eventVersion)
      log.error({ eventVersion }, 'node is too old: the other nodes run a newer version of Parlance');
    const oldest = Math.min(node.eventVersion, Number(row.oldest ?? node.eventVersion));
    if (oldest <= eventVersion || isAllowing) return;
    isAllowing = true;
    options
      .onNewEvents(oldest)
      .catch((error) => log.debug({ err: error }, 'newer events are not allowed yet'))
      .finally(() => {
        isAllowing = false;
      });
  }

  /**
   * A restarted server stays on its timeline; a promoted one starts a new timeline. False if it could not be read: the next
   * heartbeat asks again.
   */
  async function checkTimeline(): Promise<boolean> {
    const found = await timelineOf(database);
    if (found === 'unknown') return false;
    const before = timeline;
    timeline = found;
    if (before !== null && timeline !== null && before !== timeline) options.onFailover();
    return true;
  }

  /** Reports once that this node has fenced itself. `healthy` uses the clock, even if timers are late. */
  function watchFence(): void {
    clock.clear(fence);
    if (stopped) return;
    fence = clock.setTimeout(checkFence, Math.max(1, sentAt + times.fenceMs - now()));
  }

  function checkFence(): void {
    if (stopped || fenced) return;
    if (healthy()) {
      watchFence();
      return;
    }
    fenced = true;
    log.warn({ age: Math.round(now() - sentAt) }, 'node fenced: no heartbeat reached the database');
    options.onLost('all');
  }

  /** Retries sooner after a failed heartbeat. */
  function schedule(failed = false): void {
    if (stopped) return;
    const wait = failed ? times.intervalMs / 4 : sentAt + times.intervalMs - now();
    next = clock.setTimeout(tick, Math.max(1, wait));
  }

  function tick(): void {
    // After a stall, check the fence first: a successful heartbeat would hide it.
    checkFence();
    running = beat()
      .then(
        () => schedule(),
        (error) => {
          log.debug({ err: error }, 'heartbeat failed');
          schedule(true);
        },
      )
      .finally(() => {
        running = null;
      });
  }

  return {
    get healthy() {
      return !stopped && healthy();
    },
    get mayTakeOver() {
      return !stopped && healthy() && now() >= lateUntil;
    },
    get busDown() {
      return ownBusDown || busDown;
    },
    get eventVersion() {
      return eventVersion;
    },
    get age() {
      return now() - sentAt;
    },
    setBusDown(down) {
      ownBusDown = down;
    },
    beat,
    start: () => schedule(),
    async stop() {
      stopped = true;
      clock.clear(next);
      clock.clear(fence);
      await running;
    },
  };
}

/** Null if the server does not report it, `unknown` if it did not answer. */
async function timelineOf(database: Statements): Promise<string | null> {
  try {
    const [row] = await database.query('SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline');
    return String(row?.timeline);
  } catch (thrown) {
    // Undefined function, or no right to call it.
    return stateOf(thrown)?.startsWith('42') ? null : 'unknown';
  }
}

/** Lease timing. `PARLANCE_LEASE` scales all values proportionally. */
type LeaseTimes = {
  /** how long a heartbeat renews the leases of a node */
  readonly leaseMs: number;
  /** interval between heartbeats */
  readonly intervalMs: number;
  /** a node without a successful heartbeat for this long fences itself, well before its leases end */
  readonly fenceMs: number;
  /**
   * a node whose heartbeat took longer does not declare others dead for one lease: the database may have been
   * slow for all
   */
  readonly lateMs: number;
};

const LEASE_MS = 1_500;

export const leaseTimes = (leaseMs = LEASE_MS): LeaseTimes => ({
  leaseMs,
  intervalMs: Math.round((leaseMs * 4) / 15),
  fenceMs: Math.round((leaseMs * 11) / 15),
  lateMs: Math.round(leaseMs / 3),
});
