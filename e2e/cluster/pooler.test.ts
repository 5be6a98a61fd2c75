/** Nodes whose statements go through PgBouncer in transaction mode; heartbeats and notifications connect directly. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { pgbouncerProgram, startPgbouncer } from '../../packages/server/src/testing/engines/pgbouncer.ts';
import type { Engine } from '../../packages/server/src/testing/engines/program.ts';
import { until } from '../../packages/server/src/testing/until.ts';
import { durableOf, followed, type ServerProcess, submitKeyed } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster, type ThreeNodes } from './nodes.ts';

const why = missing ?? (pgbouncerProgram ? null : 'pgbouncer is not installed');
const SESSIONS = 12;
const INPUTS = 15;

/** Retries until it is accepted: a busy machine may exceed the deadline of the database. */
async function say(node: ServerProcess, session: string, text: string): Promise<void> {
  await until(() => submitKeyed(node, session, { text, key: text }));
}

const turnsEnded =
  (count: number) =>
  (events: readonly { readonly type: string }[]): boolean =>
    events.filter(({ type }) => type === 'turn.ended').length >= count;

describe.skipIf(why !== null)(`three nodes behind a pooler${why ? ` (not here: ${why})` : ''}`, () => {
  let cluster: Cluster;
  let pooler: Engine;
  let nodes: ThreeNodes;
  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, PARLANCE_OFFLINE_DELAY: '0' });
    const direct = cluster.settings.DATABASE_URL ?? '';
    pooler = await startPgbouncer(direct);
    nodes = await cluster.startThree({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: direct });
  });
  afterAll(async () => {
    await cluster?.stop();
    await pooler?.stop();
  });

  const at = (index: number): ServerProcess => nodes[index % 3] ?? nodes[0];

  test('answer on every node, with fewer connections to the database than they use', async () => {
    const sessions = Array.from({ length: SESSIONS }, (_, index) => `pooled-${index}`);
    await Promise.all(sessions.map((session, index) => say(at(index), session, 'echo hello')));
    await Promise.all(sessions.map((session, index) => followed(at(index + 1), session, turnsEnded(1))));
    await using sql = new SQL(cluster.settings.DATABASE_URL ?? '', { max: 1 });
    const [row] =
      await sql`SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'parlance'`;
    expect(Number(row.count)).toBeLessThanOrEqual(4);
  });

  test('store the inputs of one session once, with several nodes writing at the same time', async () => {
    const texts = Array.from({ length: INPUTS }, (_, index) => `echo message ${index}`);
    await say(at(0), 'contended', 'echo first');
    await Promise.all(texts.map((text, index) => say(at(index), 'contended', text)));
    await followed(at(1), 'contended', turnsEnded(INPUTS + 1));
    const events = await durableOf(at(2), 'contended');
    const inputs = events.flatMap((event) => (event.type === 'input.accepted' ? event.parts : []));
    expect(inputs.map((part) => ('text' in part ? part.text : '')).sort()).toEqual(
      ['echo first', ...texts].sort(),
    );
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test('are not ready while it is down, and continue when it is back', async () => {
    const ready = async (status: number): Promise<void> => {
      await until(async () => (await fetch(`${at(0).http}/ready`)).status === status);
    };
    await pooler.kill();
    await ready(503);
    await pooler.restart();
    await ready(200);
    await say(at(0), 'after', 'echo again');
    await followed(at(1), 'after', turnsEnded(1));
  });
});
