/**
 * Leases: a session stores its driver and the fencing epoch; the heartbeat of a node renews all of its
 * leases.
 */

import { randomUUID } from 'node:crypto';
import { PrincipalId, SessionId } from '@parlance/protocol';
import type { SessionRef } from '../../core/ports/event-store.ts';
import type { Lease, Leases, NodeState } from '../../core/ports/lease.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { Listeners } from '../../lib/listeners.ts';

import { storableRef } from '../shared/text.ts';
import { type Appender, driverOf } from './append.ts';
import type { Database, Row, Statements } from './database.ts';
import { withFaults } from './errors.ts';
import { type Heartbeat, type HeartbeatOptions, leaseTimes, openHeartbeat } from './heartbeat.ts';
import { type HeldLease, HeldLeases } from './held-leases.ts';
import { bucketOf } from './sessions.ts';

type LeaseOptions = {
  readonly node: string;
  readonly home: string | null;
  readonly database: Statements;
  readonly heartbeat: Heartbeat;
  readonly held: HeldLeases;
  readonly onLost: Leases['onLost'];
};

/** $1 node, $2 home, $3 whether this node may declare others dead */
const FREE = `
  (sessions.home IS NULL OR sessions.home = $2) AND (
    driver IS NULL OR $3
      AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = driver AND nodes.until > now())
  )`;

/** Below PostgreSQL's maximum for LIMIT. */
const MAX_INT = 2 ** 31 - 1;

const heldIn = (row: Row): HeldLease => ({
  ref: { owner: PrincipalId.parse(row.owner), id: SessionId.parse(row.id) },
  row: Number(row.row),
  epoch: Number(row.epoch),
});

function openLeases({ node, home, database, heartbeat, held, onLost }: LeaseOptions): Leases {
  function learn(found: Row): Lease {
    const { ref, row, epoch } = heldIn(found);
    held.learn(ref, row, { node, epoch });
    return { ref, epoch };
  }

  /**
   * Finds running sessions that this node drives without knowing it, because the response to an append or
   * claim was lost. Other nodes do not take them over, since this node is alive.
   */
  async function unknown(limit: number): Promise<Lease[]> {
    if (limit <= 0) return [];
    const query = held.startQuery();
    const rows = await database
      .query(
        `SELECT row, owner, id, epoch FROM sessions WHERE status = 'running' AND driver = $1
           AND NOT EXISTS (SELECT 1 FROM unnest($2::bigint[]) AS held (row) WHERE held.row = sessions.row)
         LIMIT $3`,
        [node, query.held.map(({ row }) => row), Math.min(limit, MAX_INT)],
      )
      .catch((error) => {
        held.drop(query);
        throw error;
      });
    return held.unknown(query, rows.map(heldIn)).map(({ ref, epoch }) => ({ ref, epoch }));
  }

  return {
    node,
    get healthy() {
      return heartbeat.healthy;
    },
    onLost,
    good: ({ ref, epoch }) => heartbeat.healthy && held.epochOf(storableRef(ref)) === epoch,

    driverOf: withFaults(async (given) => {
      const { owner, id } = storableRef(given);
      const [row] = await database.query(
        'SELECT driver, epoch FROM sessions WHERE bucket = $1 AND owner = $2 AND id = $3',
        [bucketOf(owner), owner, id],
      );
      return row ? driverOf(row) : null;
    }),

    claim: withFaults((given) =>
      held.changing(storableRef(given), async () => {
        if (!heartbeat.healthy) return null;
        const { owner, id } = storableRef(given);
        const [row] = await database.query(
          `UPDATE sessions SET driver = $1,
             epoch = CASE WHEN driver IS NOT DISTINCT FROM $1 THEN epoch ELSE nextval('epochs') END
           WHERE bucket = $4 AND owner = $5 AND id = $6 AND (driver = $1 OR ${FREE})
           RETURNING row, owner, id, epoch`,
          [node, home, heartbeat.mayTakeOver, bucketOf(owner), owner, id],
        );
        return row ? { ...learn(row), ref: given } : null;
      }),
    ),

    release: withFaults(({ ref: given, epoch }) => {
      const ref = storableRef(given);
      return held.changing(ref, async () => {
        if (held.epochOf(ref) === epoch) held.forget(ref);
        await database.query(
          `UPDATE sessions SET driver = NULL
           WHERE bucket = $1 AND owner = $2 AND id = $3 AND driver = $4 AND epoch = $5`,
          [bucketOf(ref.owner), ref.owner, ref.id, node, epoch],
        );
      });
    }),

    takeOver: withFaults(async (limit) => {
      if (!heartbeat.healthy || limit <= 0) return [];
      const rows = await database.query(
        `WITH free AS (
           SELECT row FROM sessions WHERE status = 'running' AND driver IS DISTINCT FROM $1 AND ${FREE}
           ORDER BY updated_at LIMIT $4 FOR UPDATE OF sessions SKIP LOCKED
         )
         UPDATE sessions SET driver = $1, epoch = nextval('epochs') FROM free WHERE sessions.row = free.row
         RETURNING sessions.row, owner, id, epoch`,
        [node, home, heartbeat.mayTakeOver, Math.min(limit, MAX_INT)],
      );
      const taken = rows.map(learn);
      const more = unknown(limit - taken.length);
      // Nobody would resume what has been taken: this node holds it from now on.
      return [...taken, ...(await (taken.length > 0 ? more.catch(() => []) : more))];
    }),
  };
}

/** Releases all leases of the node, so that others take over immediately, and removes it. */
async function leave(database: Statements, node: string): Promise<void> {
  await database.query(
    `WITH left_node AS (DELETE FROM nodes WHERE id = $1)
     UPDATE sessions SET driver = NULL WHERE driver = $1 AND status = 'running'`,
    [node],
  );
}

// This process as a node of the cluster: heartbeat and leases.

export type NodeSettings = {
  /** how long a lease is valid without a heartbeat; all other times are derived from it */
  readonly leaseMs?: number;
  /** sessions created here are driven only by nodes with the same home */
  readonly home?: string;
  /** Parlance version, for operators */
  readonly release?: string;
};

type NodeParts = {
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
  /** Resolves after the first heartbeat. */
  join(): Promise<void>;
  /** Releases all leases. */
  leave(): Promise<void>;
}

/** Drives nothing until it has joined: CLI commands append without it. */
export function thisNode(parts: NodeParts): ThisNode {
  const { settings, eventVersion, database, direct, log, onChanges, onNewEvents } = parts;
  const { leaseMs, home = null, release = '' } = settings;
  const id = randomUUID();
  const held = new HeldLeases(id);
  const lost = new Listeners<[refs: readonly SessionRef[] | 'all']>();
  const failovers = new Listeners();
  const checkpoints: Appender['checkpoints'] = new WeakMap();
  let hasJoined = false;
  const heartbeat = openHeartbeat({
    node: { id, release, eventVersion, home },
    database: direct,
    times: leaseTimes(leaseMs),
    held,
    log,
    onChanges,
    onNewEvents,
    onLost: lost.notify,
    onFailover: failovers.notify,
  });
  return {
    heartbeat,
    held,
    leases: openLeases({ node: id, home, database, heartbeat, held, onLost: lost.add }),
    appender: () => ({
      node: id,
      home,
      able: heartbeat.healthy,
      mayTakeOver: heartbeat.mayTakeOver,
      checkpoints,
    }),
    onFailover: failovers.add,
    async join() {
      hasJoined = true;
      await heartbeat.beat();
      await database.query(`DELETE FROM nodes WHERE until < now() - INTERVAL '1 day'`);
      heartbeat.start();
    },
    async leave() {
      await heartbeat.stop();
      if (!hasJoined) return;
      await leave(database, id).catch((error) => log.warn({ err: error }, 'failed to release leases'));
    },
  };
}

// Lists the nodes and their sessions in one statement.

/** A crashed node is listed until a starting node removes it after a day. */
export async function listNodes(database: Statements): Promise<NodeState[]> {
  const rows = await database.query(
    `SELECT id, release, home, extract(epoch FROM started_at)::float8 * 1000 AS started_at, bus_down, until > now() AS alive,
       extract(epoch FROM now() - until)::float8 * 1000 + lease_ms AS lease_age,
       (SELECT count(*) FROM sessions WHERE driver = nodes.id AND status = 'running') AS sessions
     FROM nodes ORDER BY nodes.started_at, id`,
  );
  return rows.map((row) => ({
    id: String(row.id),
    release: String(row.release),
    home: row.home === null ? null : String(row.home),
    startedAt: Math.round(Number(row.started_at)),
    leaseAge: Math.max(0, Math.round(Number(row.lease_age))),
    alive: row.alive === true,
    bus: row.bus_down === true ? 'down' : 'up',
    sessions: Number(row.sessions),
  }));
}
