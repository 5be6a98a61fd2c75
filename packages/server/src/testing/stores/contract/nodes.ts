/** Contract tests for the list of nodes. */
import { expect, test } from 'bun:test';
import type { Store } from '../../../stores/shared/store.ts';
import { recordOf, refOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const ONE = refOf('ada', 'one');
const IF_FREE = { by: 'command', take: 'if-free' } as const;

/** Appends to a session with or without work; this node drives it in between. */
async function append(store: Store, ref: typeof ONE, status: 'running' | 'idle'): Promise<void> {
  const head = await store.head(ref);
  await store.append(head, textEvents(ref, head, 1), recordOf(ref, head + 1, { status }), IF_FREE);
}

export function nodesContract(implementation: Implementation): void {
  const { singleNode } = implementation;

  test('this node is listed as alive, with the running sessions that it drives', () =>
    withStore(implementation, async (store) => {
      const before = Date.now();
      const counts = async () => (await store.nodes()).map(({ sessions }) => sessions);
      expect(await counts()).toEqual([0]);
      await append(store, ONE, 'running');
      await append(store, refOf('uma', 'two'), 'running');
      await append(store, refOf('uma', 'idle'), 'idle');
      expect(await counts()).toEqual([2]);
      await append(store, ONE, 'idle');
      expect(await counts()).toEqual([1]);
      const [node] = await store.nodes();
      expect(node).toMatchObject({ id: store.leases.node, home: null, alive: true });
      // The time may be the database's.
      expect(Math.abs((node?.startedAt ?? 0) - before)).toBeLessThan(3_600_000);
      expect(node?.leaseAge ?? 0).toBeGreaterThanOrEqual(0);
    }));

  const title = 'nodes are listed in order of start until they are closed';
  test.skipIf(singleNode !== undefined)(singleNode ? `${title} (not here: ${singleNode})` : title, () =>
    withStore(implementation, async (here, place) => {
      const there = await place.open();
      await append(there, ONE, 'running');
      const shown = async () => (await here.nodes()).map(({ id, sessions }) => [id, sessions]);
      expect(await shown()).toEqual([
        [here.leases.node, 0],
        [there.leases.node, 1],
      ]);
      expect(await there.nodes()).toHaveLength(2);
      await there.close();
      expect(await shown()).toEqual([[here.leases.node, 0]]);
    }),
  );
}
