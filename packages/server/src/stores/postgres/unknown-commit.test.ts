import { describe, expect, test } from 'bun:test';
import {
  outcomeOf,
  recordOf,
  refOf,
  seqsOf,
  textEvent,
  textEvents,
} from '../../testing/stores/contract/samples.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { openProxy } from '../../testing/stores/postgres-proxy.ts';

const ONE = refOf('ada', 'one');
const RUNNING = { status: 'running' } as const;

describe.skipIf(noPostgres)('an append whose response is lost', () => {
  const server = testServer();

  test('is found to be written, with its lease', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    proxy.loseAnswerTo('event-2');
    const driver = await store.append(1, textEvents(ONE, 1, 2), recordOf(ONE, 3, RUNNING), {
      by: 'command',
      take: 'if-free',
    });
    expect(driver?.node).toBe(store.leases.node);
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2, 3]);
    // The lease taken by the first statement is valid.
    proxy.loseAnswerTo('event-4');
    const as = { by: 'driver', epoch: driver?.epoch ?? 0 } as const;
    expect(await store.append(3, textEvents(ONE, 3, 1), recordOf(ONE, 4, RUNNING), as)).toEqual(driver);
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2, 3, 4]);
    await store.close();
  });

  test('is a conflict if the stored event is not its own', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const [store, other] = [await openNode(proxy.url), await openNode(url)];
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    await other.append(1, [textEvent(ONE, 2, 'of another node')], recordOf(ONE, 2));
    proxy.loseAnswerTo('event-2');
    expect(await outcomeOf(store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2)))).toBe('AppendConflict');
    expect(await store.read(ONE, 1, 10)).toEqual([textEvent(ONE, 2, 'of another node')]);
    await Promise.all([store.close(), other.close()]);
  });

  test('writes its whole group once', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    const refs = Array.from({ length: 20 }, (_, index) => refOf('ada', `s${index}`));
    proxy.loseAnswerTo('event-1');
    await Promise.all(refs.map((ref) => store.append(0, textEvents(ref, 0, 2), recordOf(ref, 2))));
    for (const ref of refs) expect(seqsOf(await store.read(ref, 0, 10))).toEqual([1, 2]);
    await store.close();
  });

  test('without events is written again', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    proxy.loseAnswerTo('renamed by hand');
    await store.append(1, [], recordOf(ONE, 1, { title: 'renamed by hand' }));
    expect((await store.load(ONE))?.title).toBe('renamed by hand');
    await store.close();
  });

  test('is storage_unavailable if it cannot be determined, and the log shows the outcome later', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    proxy.loseAnswerTo('event-2', Number.POSITIVE_INFINITY);
    const lost = store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
    await expect(lost).rejects.toMatchObject({ code: 'storage_unavailable' });
    proxy.loseAnswerTo('nothing');
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2]);
    await store.close();
  });

  test('that took a lease is found by the next sweep: this node drives the session', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    proxy.loseAnswerTo('event-1', Number.POSITIVE_INFINITY);
    const lost = store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1, RUNNING), {
      by: 'command',
      take: 'if-free',
    });
    await expect(lost).rejects.toMatchObject({ code: 'storage_unavailable' });
    proxy.loseAnswerTo('nothing');
    const [lease] = await store.leases.takeOver(10);
    expect(lease?.ref).toEqual(ONE);
    expect(lease && store.leases.good(lease)).toBe(true);
    const as = { by: 'driver', epoch: lease?.epoch ?? 0 } as const;
    await store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2, RUNNING), as);
    expect(await store.leases.takeOver(10)).toEqual([]);
    await store.close();
  });

  test('inside a transaction is resolved after its lock was released', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const store = await openNode(proxy.url);
    await store.append(0, textEvents(ONE, 0, 1), recordOf(ONE, 1));
    proxy.loseAnswerTo('COMMIT');
    const result = await store.exclusively(ONE, async ({ append }) => {
      await append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
      return 'done';
    });
    expect(result).toBe('done');
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2]);
    await store.close();
  });
});
