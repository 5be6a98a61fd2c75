import { describe, expect, test } from 'bun:test';
import { ADDED, type DurableEvent, eventVersion } from '@parlance/protocol';
import { SQL } from 'bun';
import {
  begin,
  newerUpcasts,
  outcomeOf,
  recordOf,
  refOf,
  textEvent,
} from '../../testing/stores/contract/samples.ts';
import { NO_LOG, noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { until } from '../../testing/until.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { openPostgresStore, type PostgresOptions } from './open.ts';

const release = (...added: Migration[]): Partial<PostgresOptions> => ({
  migrations: [...MIGRATIONS, ...added],
});
const known = MIGRATIONS.length;

describe.skipIf(noPostgres)('the schema', () => {
  const server = testServer();

  test('is created once by nodes that start concurrently on an empty database', async () => {
    const url = await server().engine.createDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const [first] = nodes;
    expect(new Set(nodes.map(({ cluster }) => cluster.secret)).size).toBe(1);
    expect(new Set(nodes.map(({ cluster }) => cluster.id)).size).toBe(1);
    expect(Buffer.from(first?.cluster.secret ?? '').length).toBeGreaterThanOrEqual(32);
    for (const [index, node] of nodes.entries()) await begin(node, refOf('ada', `s${index}`));
    expect(await first?.count({})).toBe(3);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('contracted by a newer release is refused in one line, without changes', async () => {
    const url = await server().newDatabase();
    const newer = release({ sql: 'ALTER TABLE sessions DROP COLUMN home', oldest: known + 1 });
    await (await openPostgresStore(url, { log: NO_LOG, ...newer })).close();
    const { host } = new URL(url);
    await expect(openNode(url)).rejects.toThrow(
      new RegExp(
        `^postgres://${host}/\\w+ is from a newer version of Parlance \\(schema ${known + 1}, this one knows ${known}\\)$`,
      ),
    );
  });

  test('only expanded by a newer release works with both releases', async () => {
    const url = await server().newDatabase();
    const running = await openNode(url);
    const newer = release({ sql: 'ALTER TABLE sessions ADD COLUMN colour TEXT', oldest: known });
    const upgraded = await openNode(url, newer);
    await begin(running, refOf('ada', 'one'));
    await begin(upgraded, refOf('ada', 'two'));
    expect(await running.count({})).toBe(2);
    const restarted = await openNode(url);
    await begin(restarted, refOf('ada', 'three'));
    await Promise.all([running, upgraded, restarted].map((node) => node.close()));
  });

  test('creates indexes outside of the transaction while other nodes write, and again after an interruption', async () => {
    const url = await server().newDatabase();
    const running = await openNode(url);
    await begin(running, refOf('ada', 'one'));
    const newer = release({
      sql: 'ALTER TABLE sessions ADD COLUMN colour TEXT',
      oldest: known,
      afterwards: ['CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_by_colour ON sessions (colour)'],
    });
    const nodes = await Promise.all([openNode(url, newer), openNode(url, newer)]);
    await using sql = new SQL(url, { max: 1 });
    const isValid = async () =>
      (
        await sql`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'sessions_by_colour'::regclass`
      )[0].valid;
    expect(await isValid()).toBe(true);
    await sql`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sessions_by_colour'::regclass`;
    await sql`UPDATE cluster SET completed = ${known}`;
    nodes.push(await openNode(url, newer));
    expect(await isValid()).toBe(true);
    await Promise.all([running, ...nodes].map((node) => node.close()));
  });

  test('of another program is refused in one line', async () => {
    const { engine } = server();
    for (const table of ['sessions', 'cluster']) {
      const url = await engine.createDatabase();
      await using sql = new SQL(url, { max: 1 });
      await sql.unsafe(`CREATE TABLE ${table} (id INTEGER)`);
      await expect(openNode(url)).rejects.toThrow('contains tables of another program');
    }
  });

  test('accepts a new kind of event only when all living nodes can read it', async () => {
    const url = await server().newDatabase();
    const newer = { upcasts: newerUpcasts({ 'text.ended': ADDED }) };
    const [old, other] = [await openNode(url), await openNode(url)];
    const upgraded = await openNode(url, newer);
    const ref = refOf('ada', 'one');
    const create = (seq: number): DurableEvent => ({ ...textEvent(ref, seq), type: 'turn.resumed' }) as never;
    const write = () => upgraded.append(1, [textEvent(ref, 2)], recordOf(ref, 2));
    await upgraded.append(0, [create(1)], recordOf(ref, 1));
    expect(await old.read(ref, 0, 10)).toHaveLength(1);
    expect(await outcomeOf(write())).toBe('Fault');
    await old.close();
    // A node of the old release can still start.
    const restarted = await openNode(url);
    await Promise.all([other.close(), restarted.close()]);
    await until(async () => (await outcomeOf(write())) === 'written');
    await expect(openNode(url)).rejects.toThrow(
      `contains an event that has schema version ${eventVersion() + 1}`,
    );
    expect(await upgraded.read(ref, 0, 10)).toHaveLength(2);
    await upgraded.close();
  });

  test('with events of a newer release is refused in one line', async () => {
    const url = await server().newDatabase();
    await (await openPostgresStore(url, { log: NO_LOG, upcasts: newerUpcasts() })).close();
    await expect(openNode(url)).rejects.toThrow(
      `contains an event that has schema version ${eventVersion() + 1}, which a newer version`,
    );
  });
});

describe.skipIf(noPostgres)('an unusable database is reported in one line:', () => {
  const server = testServer();
  const failing = (url: string) => openNode(url, { deadlineMs: 2_000 });

  test('nothing listens there', async () => {
    await expect(failing('postgres://parlance:secret@127.0.0.1:1/parlance')).rejects.toThrow(
      /^postgres:\/\/127\.0\.0\.1:1\/parlance cannot be used: it does not answer; check that it runs, and the address in DATABASE_URL \(/,
    );
  });

  test('there is no such database', async () => {
    const url = new URL(server().engine.url);
    url.pathname = '/missing';
    await expect(failing(url.href)).rejects.toThrow(
      /cannot be used: there is no such database; create it \(.*"missing" does not exist\)$/,
    );
  });

  test('there is no such user', async () => {
    const url = new URL(server().engine.url);
    url.username = 'nobody';
    await expect(failing(url.href)).rejects.toThrow(
      /cannot be used: it refuses the user, the password or an access right; check DATABASE_URL \(/,
    );
  });

  test('it may not create tables', async () => {
    const { engine } = server();
    const url = new URL(await engine.createDatabase());
    await using sql = new SQL(url.href, { max: 1 });
    await sql.unsafe('CREATE ROLE guest LOGIN');
    url.username = 'guest';
    await expect(failing(url.href)).rejects.toThrow(
      /it refuses the user, the password or an access right; check DATABASE_URL \(permission denied/,
    );
  });

  test('it does not answer', async () => {
    const { engine, newDatabase } = server();
    const url = await newDatabase();
    engine.pause();
    try {
      await expect(failing(url)).rejects.toThrow(
        /cannot be used: it does not answer; .* \(the database did not answer within 2000 ms\)/,
      );
    } finally {
      engine.resume();
    }
  });
});
