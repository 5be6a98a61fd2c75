/**
 * The number of PostgreSQL transactions of a turn, as counted by the database. Readers on both nodes receive
 * every token.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { EventReader } from '../event-reader.ts';
import { type ServerProcess, submit } from '../server-process.ts';
import { type Cluster, LONG_LEASE, missing, startCluster } from './nodes.ts';

const SESSION = 'counted';
/** Longer than all periodic intervals of an idle node. */
const REST_MS = 2_500;
/** The size of the database is measured by the first write after some seconds. */
const MEASUREMENT = 'pg_total_relation_size';

type Calls = ReadonlyMap<string, number>;

describe.skipIf(missing !== null)(`transactions of a turn${missing ? ` (not here: ${missing})` : ''}`, () => {
  let cluster: Cluster;
  let node: ServerProcess;
  let sql: SQL;
  let atRest: ReadonlySet<string>;
  const readers: EventReader[] = [];
  let tokens = 0;

  beforeAll(async () => {
    cluster = await startCluster({ ...LONG_LEASE, PARLANCE_OFFLINE_DELAY: '0' }, [
      'shared_preload_libraries=pg_stat_statements',
    ]);
    let other: ServerProcess;
    [node, other] = await Promise.all([cluster.start(), cluster.start()]);
    sql = new SQL(cluster.settings.DATABASE_URL ?? '', { max: 1 });
    await sql`CREATE EXTENSION pg_stat_statements`;
    await submit(node, SESSION, 'Hello');
    for (const where of [node, other]) {
      const reader = new EventReader(SESSION, ({ type }) => {
        if (type === 'text.delta') tokens++;
      });
      await reader.follow(where, 0);
      readers.push(reader);
    }
    await turnsEnded(1);
    const before = await calls();
    await Bun.sleep(REST_MS);
    atRest = new Set(changed(before, await calls()).keys());
  });
  afterAll(async () => {
    for (const reader of readers) reader.cut();
    await sql?.close();
    await cluster?.stop();
  });

  const turnsEnded = (count: number): Promise<unknown> =>
    Promise.all(
      readers.map((reader) =>
        reader.until(({ events }) => events.filter(({ type }) => type === 'turn.ended').length >= count),
      ),
    );

  async function calls(): Promise<Calls> {
    const rows = await sql`SELECT query, sum(calls) AS calls FROM pg_stat_statements GROUP BY query`;
    return new Map(
      rows.map(({ query, calls: count }: { query: string; calls: unknown }) => [query, Number(count)]),
    );
  }

  const changed = (before: Calls, after: Calls): Calls =>
    new Map(
      [...after].flatMap(([query, count]) => {
        const more = count - (before.get(query) ?? 0);
        return more > 0 && !query.includes('pg_stat_statements') ? [[query, more]] : [];
      }),
    );

  /** Of three turns the one with the fewest statements: a busy machine delays those of idle nodes into a turn. */
  async function quietTurn(text: string) {
    const turns = [await turn(text), await turn(text), await turn(text)];
    return turns.reduce((least, next) => (next.statements.length < least.statements.length ? next : least));
  }

  /** The statements of one turn, each its own transaction, without those of idle nodes; and its tokens. */
  async function turn(text: string): Promise<{ readonly statements: string[]; readonly tokens: number }> {
    const ended = readers[0]?.events.filter(({ type }) => type === 'turn.ended').length ?? 0;
    tokens = 0;
    const before = await calls();
    expect(await submit(node, SESSION, text)).toBe(true);
    await turnsEnded(ended + 1);
    const after = changed(before, await calls());
    const own = [...after].filter(([query]) => !atRest.has(query) && !query.includes(MEASUREMENT));
    return { statements: own.flatMap(([query, count]) => Array<string>(count).fill(query)), tokens };
  }

  test('are at most three, and the same number for a thousand tokens as for ten', async () => {
    const [few, many] = [await quietTurn('count to 10'), await quietTurn('count to 1000')];
    expect(few.tokens).toBeGreaterThanOrEqual(2 * 10);
    expect(many.tokens).toBeGreaterThan(1_000);
    expect(many.statements).toEqual(few.statements);
    expect(few.statements.length).toBeLessThanOrEqual(3);
    expect(few.statements.length).toBeGreaterThan(0);
  });

  test('are at most four with a tool call', async () => {
    const { statements } = await quietTurn('echo something');
    expect(readers[0]?.events.findLast(({ type }) => type === 'tool.ended')).toMatchObject({ outcome: 'ok' });
    expect(statements.length).toBeGreaterThan(2);
    expect(statements.length).toBeLessThanOrEqual(4);
  });
});
