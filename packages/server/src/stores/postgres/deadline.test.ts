import { describe, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { begin, recordOf, refOf, seqsOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { slowness } from '../../testing/until.ts';
import { openDatabase } from './database.ts';

/** Long enough for a busy machine. */
const DEADLINE_MS = Math.round(1_000 * slowness());
const ONE = refOf('ada', 'one');
const unavailable = { name: 'Fault', code: 'storage_unavailable' };

describe.skipIf(noPostgres)('an unresponsive server', () => {
  const server = testServer();

  test('fails every operation at the deadline, and works again once it responds', async () => {
    const { engine, newDatabase } = server();
    const store = await openNode(await newDatabase(), { deadlineMs: DEADLINE_MS });
    await begin(store, ONE);
    engine.pause();
    try {
      const operations = [
        store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2)),
        store.exclusively(ONE, ({ read }) => read(ONE, 0, 10)),
        store.read(ONE, 0, 10),
        store.load(ONE),
        store.list({ limit: 1 }),
        store.count({}),
        store.writable(),
        store.erase(refOf('ada', 'two')),
        store.find('ada'),
        store.revocations.has('token'),
        store.preferences.get(ONE.owner),
        store.leases.claim(ONE),
      ];
      const outcomes = await Promise.all(
        operations.map((operation) =>
          operation.then(
            () => 'answered',
            ({ code }) => code,
          ),
        ),
      );
      expect(outcomes).toEqual(operations.map(() => unavailable.code));
    } finally {
      engine.resume();
    }
    expect((await store.load(ONE))?.ref).toEqual(ONE);
    const head = await store.head(ONE);
    await store.append(head, textEvents(ONE, head, 1), recordOf(ONE, head + 1));
    // Statements sent to the frozen server may have been executed once or not at all.
    expect([
      [1, 2],
      [1, 2, 3],
    ]).toContainEqual(seqsOf(await store.read(ONE, 0, 10)));
    await store.close();
  });

  test('is detected while waiting for a connection', async () => {
    const { engine, newDatabase } = server();
    const database = openDatabase(await newDatabase(), { max: 1, deadlineMs: DEADLINE_MS, name: 'test' });
    await database.query('SELECT 1');
    engine.pause();
    try {
      const asked = Array.from({ length: 3 }, () => database.query('SELECT 1'));
      const outcomes = await Promise.allSettled(asked);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    } finally {
      engine.resume();
    }
    expect((await database.query('SELECT 1 AS one')).map(({ one }) => one)).toEqual([1]);
    await database.close();
  });

  test('cancels a statement that runs too long or waits for a lock, before the deadline', async () => {
    const { newDatabase } = server();
    const url = await newDatabase();
    // The limits of the server are four fifths of it: the rest must be enough for its answer on a busy machine.
    const database = openDatabase(url, { max: 2, deadlineMs: 4 * DEADLINE_MS, name: 'test' });
    await expect(database.query('SELECT pg_sleep(60)')).rejects.toMatchObject({ errno: '57014' });
    await using other = new SQL(url, { max: 1 });
    await other.begin(async (transaction) => {
      await transaction`LOCK TABLE users`;
      await expect(database.query('SELECT * FROM users')).rejects.toMatchObject({ errno: '55P03' });
    });
    await database.close();
  });

  test('receives no settings through a pooler, which would reject them', async () => {
    const url = await server().newDatabase();
    const shown = async (pooled: boolean) => {
      const database = openDatabase(url, { max: 1, deadlineMs: 50_000, name: 'test', pooled });
      const [row] = await database.query('SHOW statement_timeout');
      await database.close();
      return row?.statement_timeout;
    };
    expect([await shown(false), await shown(true)]).toEqual(['40s', '0']);
    const store = await openNode(url, { directUrl: `${url}?connect_timeout=5` });
    await begin(store, ONE);
    expect(await store.head(ONE)).toBe(1);
    await store.close();
  });

  test('releases the lock of a session after a hanging transaction', async () => {
    const { newDatabase } = server();
    const store = await openNode(await newDatabase(), { deadlineMs: DEADLINE_MS });
    await begin(store, ONE);
    const hanging = store.exclusively(ONE, async ({ append }) => {
      await Bun.sleep(DEADLINE_MS * 1.5);
      return append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
    });
    await expect(hanging).rejects.toThrow();
    await store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2]);
    await store.close();
  });
});

describe.skipIf(noPostgres)('a server that restarts', () => {
  const server = testServer();

  for (const end of ['shutDown', 'kill'] as const) {
    test(`after ${end} is unavailable, then has all acknowledged events`, async () => {
      const { engine, newDatabase } = server();
      const store = await openNode(await newDatabase());
      await begin(store, ONE);
      await engine[end]();
      await expect(store.load(ONE)).rejects.toMatchObject(unavailable);
      await expect(store.writable()).rejects.toMatchObject(unavailable);
      const refused = store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
      await expect(refused).rejects.toMatchObject(unavailable);
      await engine.restart();
      expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1]);
      await store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
      await store.writable();
      await store.close();
    });
  }

  test('is transparent to an append that can wait', async () => {
    const { engine, newDatabase } = server();
    const store = await openNode(await newDatabase());
    await begin(store, ONE);
    await engine.kill();
    const restarted = engine.restart();
    const appended = (async () => {
      for (;;) {
        try {
          return await store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
        } catch (error) {
          expect(error).toMatchObject(unavailable);
        }
      }
    })();
    await Promise.all([restarted, appended]);
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2]);
    await store.close();
  });
});
