/** Lists the nodes and their sessions in one statement. */
import type { NodeState } from '../../core/ports/nodes.ts';
import type { Statements } from './database.ts';

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
