import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import type { Lease } from '../../core/ports/lease.ts';
import { begin, recordOf, refOf, seqsOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';
import { until } from '../../testing/until.ts';
import type { PostgresStore } from './open.ts';

const ONE = refOf('ada', 'one');
const RUNNING = { status: 'running' } as const;
const IF_FREE = { by: 'command', take: 'if-free' } as const;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** A running session, driven by this node if possible. */
const drive = (store: PostgresStore, ref = ONE) =>
  store.append(0, textEvents(ref, 0, 1), recordOf(ref, 1, RUNNING), IF_FREE);

/** Marks the node as dead in the database. */
async function expire(url: string, node: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  await sql`UPDATE nodes SET until = now() - INTERVAL '1 second' WHERE id = ${node}`;
}

async function takeAll(store: PostgresStore, count: number): Promise<Lease[]> {
  const taken: Lease[] = [];
  await until(async () => {
    taken.push(...(await store.leases.takeOver(count)));
    return taken.length >= count;
  });
  return taken;
}

describe.skipIf(noPostgres)('leases in PostgreSQL', () => {
  const server = testServer();
  const opened: PostgresStore[] = [];
  const open = async (...given: Parameters<typeof openNode>) => {
    const store = await openNode(...given);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  test('of a dead node are taken over, and its appends as driver are refused', async () => {
    const url = await server().newDatabase();
    const [dead, alive] = [await open(url, { node: { leaseMs: 600_000 } }), await open(url)];
    const driver = await drive(dead);
    expect(await alive.leases.takeOver(10)).toEqual([]);
    await expire(url, dead.leases.node);
    const [lease] = await takeAll(alive, 1);
    expect(lease).toMatchObject({ ref: ONE });
    const late = dead.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2, RUNNING), {
      by: 'driver',
      epoch: driver?.epoch ?? 0,
    });
    await expect(late).rejects.toMatchObject({ name: 'LeaseLost' });
    expect(await alive.leases.driverOf(ONE)).toEqual({ node: alive.leases.node, epoch: lease?.epoch ?? 0 });
  });

  test('of a dead node are taken by a command', async () => {
    const url = await server().newDatabase();
    const [dead, alive] = [await open(url, { node: { leaseMs: 600_000 } }), await open(url)];
    await drive(dead);
    await expire(url, dead.leases.node);
    const driver = await alive.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2, RUNNING), IF_FREE);
    expect(driver?.node).toBe(alive.leases.node);
  });

  test('are not taken over within one lease time after the server has started', async () => {
    const url = await server().newDatabase();
    const long = { leaseMs: 3_600_000 };
    const [dead, alive] = [await open(url, { node: long }), await open(url, { node: long })];
    await drive(dead);
    await begin(alive, refOf('ada', 'nobody'), RUNNING);
    await expire(url, dead.leases.node);
    expect((await alive.leases.takeOver(10)).map(({ ref }) => String(ref.id))).toEqual(['nobody']);
    expect(await alive.leases.claim(ONE)).toBeNull();
  });

  test('are taken over by one node each, if several nodes try concurrently', async () => {
    const url = await server().newDatabase();
    const nodes = [await open(url), await open(url), await open(url)];
    const refs = Array.from({ length: 30 }, (_, index) => refOf('ada', `s${index}`));
    await Promise.all(refs.map((ref) => nodes[0] && begin(nodes[0], ref, RUNNING)));
    const taken = await Promise.all(nodes.map((store) => store.leases.takeOver(20)));
    const ids = taken.flat().map(({ ref }) => String(ref.id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(30);
  });

  test('stay with nodes of the same home', async () => {
    const url = await server().newDatabase();
    const berlin = await open(url, { node: { home: 'berlin' } });
    const paris = await open(url, { node: { home: 'paris' } });
    await begin(berlin, ONE, RUNNING);
    expect(await paris.leases.takeOver(10)).toEqual([]);
    expect(await paris.leases.claim(ONE)).toBeNull();
    const interrupted = await paris.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2, RUNNING), {
      by: 'command',
      take: 'always',
    });
    expect(interrupted).toBeNull();
    expect((await berlin.leases.takeOver(10)).map(({ ref }) => ref)).toEqual([ONE]);
  });

  test('are listed with their nodes', async () => {
    const url = await server().newDatabase();
    const [here, there] = [await open(url, { node: { release: '1.2.3' } }), await open(url)];
    await drive(here);
    there.heartbeat.setBusDown(true);
    await until(() => here.heartbeat.busDown);
    const [one, two] = await here.nodes();
    expect(one).toMatchObject({
      id: here.leases.node,
      release: '1.2.3',
      alive: true,
      bus: 'up',
      sessions: 1,
    });
    expect(two).toMatchObject({ id: there.leases.node, alive: true, bus: 'down', sessions: 0 });
  });

  test('are listed with the age of the last heartbeat, even if nodes use different lease times', async () => {
    const url = await server().newDatabase();
    const [brief, long] = [await open(url), await open(url, { node: { leaseMs: 600_000 } })];
    for (const node of [brief, long]) {
      const ages = (await node.nodes()).map(({ leaseAge }) => leaseAge ?? 0);
      expect(Math.max(...ages)).toBeLessThan(300_000);
    }
  });

  test('of a killed process are taken over, and every acknowledged event is there', async () => {
    const url = await server().newDatabase();
    const store = await open(url);
    const child = await startDriver(url);
    child.kill('SIGKILL');
    await child.exited;
    const leases = await takeAll(store, IDS.length);
    expect(leases.map(({ ref }) => String(ref.id)).sort()).toEqual(IDS);
    for (const { ref, epoch } of leases) {
      const head = await store.head(ref);
      expect(seqsOf(await store.read(ref, 0, 100_000))).toEqual(
        Array.from({ length: head }, (_, index) => index + 1),
      );
      const as = { by: 'driver', epoch } as const;
      await store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1), as);
    }
  });

  test('of a paused process are taken over; after resuming it detects the loss, and none of its writes is stored', async () => {
    const url = await server().newDatabase();
    const store = await open(url);
    const child = await startDriver(url);
    child.kill('SIGSTOP');
    const leases = await takeAll(store, IDS.length);
    const heads = await Promise.all(leases.map(({ ref }) => store.head(ref)));
    child.kill('SIGCONT');
    await child.until('done');
    expect(child.lines.filter((line) => line.startsWith('LeaseLost')).length).toBe(IDS.length);
    expect(child.lines).toContain('lost all');
    expect(await Promise.all(leases.map(({ ref }) => store.head(ref)))).toEqual(heads);
    child.kill('SIGKILL');
  });
});

/** Resolves when the other process drives all sessions. */
async function startDriver(url: string) {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, '../../testing/stores/postgres-driver.ts'), url, ...IDS],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  );
  const lines: string[] = [];
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    }
  })();
  await until(() => {
    if (child.exitCode !== null) throw new Error('the driver ended');
    return lines.filter((line) => line.startsWith('took')).length >= IDS.length;
  });
  return {
    lines,
    until: (line: string) => until(() => lines.includes(line)),
    exited: child.exited.then(() => reading),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  };
}
