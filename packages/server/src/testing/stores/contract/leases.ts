/** Contract tests for leases. */
import { expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import { AppendConflict, type SessionRef } from '../../../core/ports/event-store.ts';
import type { AppendAs, Lease } from '../../../core/ports/lease.ts';
import type { Store } from '../../../stores/shared/store.ts';
import { outcomeOf, recordOf, refOf, seqsOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ONE = refOf('ada', 'one');
const TWO = refOf('ada', 'two');
const NEVER: AppendAs = { by: 'command', take: 'never' };
const IF_FREE: AppendAs = { by: 'command', take: 'if-free' };
const ALWAYS: AppendAs = { by: 'command', take: 'always' };

/** Appends one event to a session and leaves it `running`. */
const work = async (store: Store, ref: SessionRef, as?: AppendAs) => {
  const head = await store.head(ref);
  return store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1, { status: 'running' }), as);
};

const rest = async (store: Store, ref: SessionRef, as?: AppendAs) => {
  const head = await store.head(ref);
  return store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1, { status: 'waiting' }), as);
};

const asDriver = (epoch: number): AppendAs => ({ by: 'driver', epoch });

async function claimed(store: Store, ref: SessionRef): Promise<Lease> {
  const lease = await store.leases.claim(ref);
  if (!lease) throw new Error('not claimed');
  return lease;
}

export function leasesContract(implementation: Implementation): void {
  const { singleNode } = implementation;
  const oneNode = (title: string, run: (store: Store) => Promise<void>) =>
    test(title, () => withStore(implementation, run));
  const twoNodes = (title: string, run: (here: Store, there: Store) => Promise<void>) =>
    test.skipIf(singleNode !== undefined)(
      singleNode === undefined ? title : `${title} (not here: ${singleNode})`,
      () =>
        withStore(implementation, async (here, place) => {
          const there = await place.open();
          try {
            await run(here, there);
          } finally {
            await there.close();
          }
        }),
    );

  twoNodes('an append after another event than the one it names is refused', async (here, there) => {
    const [first, second, third] = textEvents(ONE, 0, 3);
    if (!first || !second || !third) return expect.unreachable();
    const append = (event: DurableEvent, last?: string) =>
      here.append(event.seq - 1, [event], recordOf(ONE, event.seq), { ...NEVER, ...(last && { last }) });
    await append(first);
    await expect(append(second, 'another')).rejects.toBeInstanceOf(AppendConflict);
    await append(second, first.id);
    const driven = await there.leases.claim(ONE);
    const as: AppendAs = { by: 'driver', epoch: driven?.epoch ?? 0, last: first.id };
    await expect(there.append(2, [third], recordOf(ONE, 3), as)).rejects.toBeInstanceOf(AppendConflict);
    expect(await there.head(ONE)).toBe(2);
    await there.append(2, [third], recordOf(ONE, 3), { ...as, last: second.id });
    expect(seqsOf(await here.read(ONE, 0, 9))).toEqual([1, 2, 3]);
  });

  oneNode('a command takes the lease of a session that has work, in the same append', async (store) => {
    const driver = await work(store, ONE, IF_FREE);
    expect(driver?.node).toBe(store.leases.node);
    const lease = { ref: ONE, epoch: driver?.epoch ?? 0 };
    expect(store.leases.good(lease)).toBe(true);
    expect(await store.leases.claim(ONE)).toEqual(lease);
    expect(await work(store, ONE, IF_FREE)).toEqual(driver);
    expect(await work(store, ONE, ALWAYS)).toEqual(driver);
  });

  oneNode('a command that does not take the lease leaves the session without a driver', async (store) => {
    expect(await work(store, ONE)).toBeNull();
    expect(await work(store, ONE, NEVER)).toBeNull();
    expect(await rest(store, ONE, ALWAYS)).toBeNull();
  });

  oneNode('an append that leaves no work releases the lease', async (store) => {
    const lease = await work(store, ONE, IF_FREE);
    if (!lease) throw new Error('not taken');
    expect(await work(store, ONE, asDriver(lease.epoch))).toEqual(lease);
    expect(await rest(store, ONE, asDriver(lease.epoch))).toBeNull();
    expect(store.leases.good({ ref: ONE, epoch: lease.epoch })).toBe(false);
    expect(await outcomeOf(work(store, ONE, asDriver(lease.epoch)))).toBe('LeaseLost');
    expect((await work(store, ONE, IF_FREE))?.epoch).toBeGreaterThan(lease.epoch);
  });

  oneNode('running sessions without a driver are taken over, up to the limit', async (store) => {
    const refs = ['a', 'b', 'c'].map((id) => refOf('ada', id));
    for (const ref of refs) await work(store, ref);
    await rest(store, refOf('ada', 'resting'));
    const first = await store.leases.takeOver(2);
    const others = await store.leases.takeOver(Number.POSITIVE_INFINITY);
    expect([first.length, others.length]).toEqual([2, 1]);
    const taken = [...first, ...others].map(({ ref }) => ref.id);
    expect(taken.sort()).toEqual(refs.map(({ id }) => id));
    expect([...first, ...others].every(store.leases.good)).toBe(true);
    expect(await store.leases.takeOver(10)).toEqual([]);
  });

  oneNode('an erased session has no lease', async (store) => {
    const driver = await work(store, ONE, IF_FREE);
    await store.erase(ONE);
    expect(store.leases.good({ ref: ONE, epoch: driver?.epoch ?? 0 })).toBe(false);
    expect(await outcomeOf(work(store, ONE, asDriver(driver?.epoch ?? 0)))).toBe('LeaseLost');
  });

  oneNode('other appends wait during exclusive access, even if it fails', async (store) => {
    await work(store, ONE);
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const exclusive = store.exclusively(ONE, async ({ append, read }) => {
      begun.resolve();
      expect(seqsOf(await read(ONE, 0, 10))).toEqual([1]);
      await append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2));
      order.push('exclusive');
    });
    await begun.promise;
    const other = store.append(2, textEvents(ONE, 2, 1), recordOf(ONE, 3)).then(() => order.push('other'));
    await Promise.all([exclusive, other]);
    expect(order).toEqual(['exclusive', 'other']);
    const failing = store.exclusively(ONE, () => Promise.reject(new Error('decided otherwise')));
    await expect(failing).rejects.toThrow('decided otherwise');
    expect(seqsOf(await store.read(ONE, 0, 10))).toEqual([1, 2, 3]);
  });

  twoNodes('each node has its own id', async (here, there) => {
    expect(here.leases.node).not.toBe(there.leases.node);
  });

  twoNodes('a lease is held by one node; other sessions are independent', async (here, there) => {
    await work(here, ONE);
    await work(here, TWO);
    const lease = await claimed(here, ONE);
    expect(lease.ref).toEqual(ONE);
    expect(await here.leases.claim(ONE)).toEqual(lease);
    expect(await there.leases.claim(ONE)).toBeNull();
    expect(await there.leases.claim(TWO)).not.toBeNull();
  });

  twoNodes('a released lease can be claimed by another node, with a higher epoch', async (here, there) => {
    await work(here, ONE);
    const first = await claimed(here, ONE);
    expect(here.leases.good(first)).toBe(true);
    await here.leases.release(first);
    expect(here.leases.good(first)).toBe(false);
    const second = await claimed(there, ONE);
    expect(second.epoch).toBeGreaterThan(first.epoch);
    // An earlier holder cannot release a lease it no longer holds.
    await here.leases.release(first);
    expect(there.leases.good(second)).toBe(true);
    expect(await here.leases.claim(ONE)).toBeNull();
  });

  twoNodes('if two nodes claim concurrently, one gets the lease', async (here, there) => {
    await work(here, ONE);
    const claims = await Promise.all([here.leases.claim(ONE), there.leases.claim(ONE)]);
    expect(claims.filter((lease) => lease !== null)).toHaveLength(1);
  });

  twoNodes(
    'a node immediately sees appends of another; the slower of two is a conflict',
    async (here, there) => {
      await work(here, ONE);
      expect(await there.head(ONE)).toBe(1);
      const racing = [here, there].map((store) =>
        outcomeOf(store.append(1, textEvents(ONE, 1, 1), recordOf(ONE, 2))),
      );
      expect((await Promise.all(racing)).sort()).toEqual(['AppendConflict', 'written']);
      expect(seqsOf(await there.read(ONE, 0, 10))).toEqual([1, 2]);
    },
  );

  twoNodes('a command leaves the lease with the driver', async (here, there) => {
    const driver = await work(here, ONE, IF_FREE);
    expect(await work(there, ONE, IF_FREE)).toEqual(driver);
    expect(await work(there, ONE)).toEqual(driver);
    expect(await there.leases.driverOf(ONE)).toEqual(driver);
    expect(await there.leases.driverOf(TWO)).toBeNull();
    expect(await work(here, ONE, asDriver(driver?.epoch ?? 0))).toEqual(driver);
  });

  twoNodes(
    'an interruption takes the lease from the driver, whose appends are then refused',
    async (here, there) => {
      const before = await work(here, ONE, IF_FREE);
      const after = await work(there, ONE, ALWAYS);
      expect(after?.node).toBe(there.leases.node);
      expect(after?.epoch).toBeGreaterThan(before?.epoch ?? 0);
      expect(await outcomeOf(work(here, ONE, asDriver(before?.epoch ?? 0)))).toBe('LeaseLost');
      expect(await outcomeOf(work(here, ONE, asDriver(after?.epoch ?? 0)))).toBe('LeaseLost');
      expect(seqsOf(await here.read(ONE, 0, 10))).toEqual([1, 2]);
      expect(await work(there, ONE, asDriver(after?.epoch ?? 0))).toEqual(after);
    },
  );

  twoNodes(
    'ending a turn from another node removes the driver, whose appends are then refused',
    async (here, there) => {
      const driver = await work(here, ONE, IF_FREE);
      expect(await rest(there, ONE, ALWAYS)).toBeNull();
      expect(await outcomeOf(work(here, ONE, asDriver(driver?.epoch ?? 0)))).toBe('LeaseLost');
      expect((await work(there, ONE, IF_FREE))?.node).toBe(there.leases.node);
    },
  );

  twoNodes('a node is notified of the sessions it has lost', async (here, there) => {
    const lost = Promise.withResolvers<readonly SessionRef[] | 'all'>();
    await work(here, ONE, IF_FREE);
    await work(here, TWO, IF_FREE);
    here.leases.onLost(lost.resolve);
    await work(there, ONE, ALWAYS);
    expect(await lost.promise).toEqual([ONE]);
  });

  twoNodes('sessions of a living node are not taken over; those of a closed one are', async (here, there) => {
    const driver = await work(there, ONE, IF_FREE);
    expect(await here.leases.takeOver(10)).toEqual([]);
    expect(here.leases.healthy).toBe(true);
    await there.close();
    const [lease] = await here.leases.takeOver(10);
    expect(lease?.ref).toEqual(ONE);
    expect(lease?.epoch).toBeGreaterThan(driver?.epoch ?? 0);
  });
}
