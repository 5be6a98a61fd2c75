/** Admission, waiting and eviction of peers, with recording fakes. */
import { describe, expect, test } from 'bun:test';
import { type AnonymousLimits, AnonymousSockets, type Peer } from './anonymous-sockets.ts';

function pool(limits: Partial<AnonymousLimits> = {}) {
  const sockets = new AnonymousSockets({ places: 4, graceMs: 3_600_000, lingerMs: 1, ...limits });
  /** names of peers that are read, in order of admission */
  const read: string[] = [];
  const evicted: string[] = [];
  const peers = new Map<string, Peer>();
  const peer = (name: string): Peer => {
    const found = peers.get(name) ?? {
      address: name.slice(0, 1),
      admit: () => void read.push(name),
      evict: () => void evicted.push(name),
    };
    peers.set(name, found);
    return found;
  };
  const join = (...names: string[]) => names.map((name) => sockets.join(peer(name)));
  const leave = (name: string, lingers = false) => sockets.leave(peer(name), lingers);
  return { sockets, read, evicted, join, leave };
}

test('an address can use as many slots as it leaves free for others', () => {
  const { join, read } = pool({ places: 7 });
  expect(join('a1', 'a2', 'a3', 'a4', 'a5')).toEqual([true, true, true, true, false]);
  expect(join('b1', 'b2', 'b3', 'c1', 'd1')).toEqual([true, true, false, true, false]);
  expect(read).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
});

test('a free slot goes to the address with the fewest, and there to the latest peer', () => {
  const { join, leave, read } = pool();
  join('a1', 'a2', 'b1', 'c1', 'a3', 'd1', 'd2', 'b2');
  read.length = 0;
  leave('c1');
  expect(read).toEqual(['d2']);
  leave('a1');
  leave('a2');
  expect(read).toEqual(['d2', 'a3']);
});

test('a peer that leaves twice, or while waiting, frees no other slot', () => {
  const { join, leave, read } = pool({ places: 2 });
  join('a1', 'b1', 'c1', 'c2');
  leave('c2');
  leave('a1');
  leave('a1');
  expect(read).toEqual(['a1', 'b1', 'c1']);
  expect(join('d1')).toEqual([false]);
});

test('the slot of a lingering socket is free when the runtime has released the socket', async () => {
  const admitted = Promise.withResolvers<void>();
  const { sockets, join, leave } = pool({ places: 1 });
  join('a1');
  leave('a1', true);
  expect(sockets.join({ address: 'b', admit: admitted.resolve, evict: () => undefined })).toBe(false);
  await admitted.promise;
});

describe('for a waiting peer', () => {
  test('the oldest socket of the address with the most slots is evicted after the grace period', async () => {
    const { sockets, join, evicted } = pool({ graceMs: 1 });
    join('b1', 'a1', 'a2', 'c1');
    const admitted = Promise.withResolvers<void>();
    sockets.join({ address: 'd', admit: admitted.resolve, evict: () => undefined });
    await admitted.promise;
    expect(evicted).toEqual(['a1']);
  });

  test('the evicted socket can be of its own address, if that has the most', async () => {
    const { sockets, join, evicted } = pool({ graceMs: 1 });
    join('b1', 'a1', 'a2');
    const admitted = Promise.withResolvers<void>();
    sockets.join({ address: 'a', admit: admitted.resolve, evict: () => undefined });
    await admitted.promise;
    expect(evicted).toEqual(['a1']);
  });
});

test('if too many wait, the longest waiting one at the address with the most is evicted', () => {
  const { sockets, join, evicted } = pool({ places: 1 });
  expect(sockets.evictWaiting()).toBe(false);
  join('a1', 'b1', 'c1', 'c2', 'd1');
  expect([sockets.evictWaiting(), evicted]).toEqual([true, ['c1']]);
});

test('it is crowded if more than half of the slots are taken, or any peer waits', () => {
  const { sockets, join } = pool();
  join('a1', 'b1');
  expect(sockets.isCrowded).toBe(false);
  join('c1');
  expect(sockets.isCrowded).toBe(true);
  const small = pool({ places: 1 });
  small.join('a1', 'a2');
  expect(small.sockets.isCrowded).toBe(true);
});
