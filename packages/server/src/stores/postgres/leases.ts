/**
 * Leases: a session stores its driver and the fencing epoch; the heartbeat of a node renews all of its
 * leases.
 */
import { PrincipalId, SessionId } from '@parlance/protocol';
import type { Lease, Leases } from '../../core/ports/lease.ts';
import { storableRef } from '../shared/text.ts';
import { driverOf } from './append.ts';
import { bucketOf } from './bucket.ts';
import type { Row, Statements } from './database.ts';
import { withFaults } from './errors.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { HeldLease, HeldLeases } from './held-leases.ts';

export type LeaseOptions = {
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

export function openLeases({ node, home, database, heartbeat, held, onLost }: LeaseOptions): Leases {
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
          [node, home, heartbeat.mayDepose, bucketOf(owner), owner, id],
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
        [node, home, heartbeat.mayDepose, Math.min(limit, MAX_INT)],
      );
      const taken = rows.map(learn);
      return [...taken, ...(await unknown(limit - taken.length))];
    }),
  };
}

/** Releases all leases of the node, so that others take over immediately, and removes it. */
export async function leave(database: Statements, node: string): Promise<void> {
  await database.query(
    `WITH left_node AS (DELETE FROM nodes WHERE id = $1)
     UPDATE sessions SET driver = NULL WHERE driver = $1 AND status = 'running'`,
    [node],
  );
}
