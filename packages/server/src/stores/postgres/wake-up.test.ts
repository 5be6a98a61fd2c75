import { describe, expect, test } from 'bun:test';
import type { SessionRef } from '../../core/ports/event-store.ts';
import { refOf } from '../../testing/stores/contract/samples.ts';
import { NO_LOG, noPostgres, testServer } from '../../testing/stores/postgres.ts';
import { openProxy } from '../../testing/stores/postgres-proxy.ts';
import { until } from '../../testing/until.ts';
import { openWakeUps, type WakeUps } from './wake-up.ts';

const refs = (count: number) => Array.from({ length: count }, (_, index) => refOf('ada', `session ${index}`));

/** Resolves with the number of notifications when the node has received all of these sessions. */
function notified(node: WakeUps, wanted: readonly SessionRef[]): Promise<number> {
  const missing = new Set(wanted);
  let times = 0;
  return new Promise((resolve) => {
    const end = node.listen((concerns) => {
      times++;
      for (const ref of missing) if (concerns(ref)) missing.delete(ref);
      if (missing.size > 0) return;
      end();
      resolve(times);
    });
  });
}

describe.skipIf(noPostgres)('wake-up notifications', () => {
  const server = testServer();

  test('notify other nodes of sessions with new events, many with one notification', async () => {
    const url = await server().newDatabase();
    const [here, there] = [await openWakeUps(url, { log: NO_LOG }), await openWakeUps(url, { log: NO_LOG })];
    const all = refs(50);
    const arrived = notified(there, all);
    const others: boolean[] = [];
    there.listen((concerns) => others.push(concerns(refOf('ada', 'another'))));
    for (const ref of all) here.notify(ref);
    expect(await arrived).toBe(1);
    expect(others).toEqual([false]);
    await Promise.all([here.close(), there.close()]);
  });

  test('for more sessions than fit into one cover all sessions', async () => {
    const url = await server().newDatabase();
    const [here, there] = [await openWakeUps(url, { log: NO_LOG }), await openWakeUps(url, { log: NO_LOG })];
    const all = refs(2_000);
    const arrived = notified(there, [...all, refOf('ada', 'another')]);
    for (const ref of all) here.notify(ref);
    expect(await arrived).toBe(1);
    await Promise.all([here.close(), there.close()]);
  });

  test('resume after a server restart, and then cover all sessions', async () => {
    const { engine, newDatabase } = server();
    const url = await newDatabase();
    const [here, there] = [await openWakeUps(url, { log: NO_LOG }), await openWakeUps(url, { log: NO_LOG })];
    const [one = refOf('ada', 'one')] = refs(1);
    const restarted = notified(there, [one]);
    await engine.kill();
    here.notify(one);
    await engine.restart();
    await restarted;
    const arrived = notified(there, [one]);
    await until(async () => {
      here.notify(one);
      return Promise.race([arrived, Bun.sleep(20)]);
    });
    await Promise.all([here.close(), there.close()]);
  });

  test('continue after one without a response', async () => {
    const url = await server().newDatabase();
    await using proxy = await openProxy(url);
    const here = await openWakeUps(proxy.url, { log: NO_LOG });
    const there = await openWakeUps(url, { log: NO_LOG });
    const [one = refOf('ada', 'one')] = refs(1);
    const first = notified(there, [one]);
    here.notify(one);
    await first;
    proxy.freeze();
    const arrived = notified(there, [one]);
    await until(async () => {
      here.notify(one);
      return Promise.race([arrived, Bun.sleep(20)]);
    });
    await Promise.all([here.close(), there.close()]);
  });
});
