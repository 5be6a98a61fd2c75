import { describe, expect, test } from 'bun:test';
import { refOf } from '../../testing/stores/contract/samples.ts';
import { HeldLeases } from './held-leases.ts';

const ONE = refOf('ada', 'one');
const ME = 'this node';

describe('the leases that a node holds', () => {
  test('follow the latest result of the database, even if results arrive out of order', () => {
    const held = new HeldLeases(ME);
    held.learn(ONE, 1, { node: ME, epoch: 4 });
    held.learn(ONE, 1, { node: 'another', epoch: 3 });
    expect(held.epochOf(ONE)).toBe(4);
    held.learn(ONE, 1, { node: 'another', epoch: 5 });
    expect(held.epochOf(ONE)).toBeUndefined();
    held.learn(ONE, 1, { node: ME, epoch: 6 });
    held.learn(ONE, 1, null);
    expect(held.epochOf(ONE)).toBeUndefined();
  });

  test('are not lost if this node changed them during the heartbeat', async () => {
    const held = new HeldLeases(ME);
    held.learn(ONE, 1, { node: ME, epoch: 4 });
    const appended = Promise.withResolvers<void>();
    const before = held.changing(ONE, () => appended.promise);
    const first = held.startQuery();
    appended.resolve();
    await before;
    expect(held.lost(first, [0])).toEqual([]);
    const second = held.startQuery();
    await held.changing(ONE, async () => undefined);
    expect(held.lost(second, [0])).toEqual([]);
    const third = held.startQuery();
    held.learn(ONE, 1, { node: ME, epoch: 5 });
    expect(held.lost(third, [0])).toEqual([]);
    expect(held.lost(held.startQuery(), [0])).toEqual([ONE]);
    expect(held.size).toBe(0);
  });

  test('known only to the database are held, unless the node is changing them', async () => {
    const held = new HeldLeases(ME);
    const found = { ref: ONE, row: 1, epoch: 4 };
    const query = held.startQuery();
    await held.changing(ONE, async () => undefined);
    expect(held.unknown(query, [found])).toEqual([]);
    expect(held.unknown(held.startQuery(), [found])).toEqual([found]);
    expect(held.epochOf(ONE)).toBe(4);
    expect(held.unknown(held.startQuery(), [{ ...found, epoch: 3 }])).toEqual([]);
  });
});
