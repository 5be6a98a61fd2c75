import { afterEach, expect, test } from 'bun:test';
import type { FollowedEntries } from '../../../cluster/transport.ts';
import { until } from '../../until.ts';
import { delivered, type Implementation, isDown, isUp, Nodes, note } from './network.ts';

const has = (followed: FollowedEntries, ...nodes: string[]): Promise<unknown> =>
  until(() => followed.nodes.join() === nodes.join());

export function registryContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async () => {
    nodes = await Nodes.on(implementation);
    return { ada: await nodes.open('ada'), bob: await nodes.open('bob') };
  };

  test.skipIf(!implementation)('reads entries that other nodes registered earlier', async () => {
    const { ada, bob } = await pair();
    bob.registry.add('w:one');
    ada.registry.add('w:one');
    await delivered(bob, ada);
    const followed = ada.registry.follow(['w:one', 'o:ada']);
    await followed.ready;
    expect(followed.nodes).toEqual(['bob']);
  });

  test.skipIf(!implementation)('has an entry before any message that its node sends afterwards', async () => {
    const { ada, bob } = await pair();
    const followed = ada.registry.follow(['w:one']);
    await followed.ready;
    ada.respond('watchers', () => [...followed.nodes]);
    bob.registry.add('w:one');
    expect(await bob.request('ada', { kind: 'watchers', body: null }, 60_000)).toEqual(['bob']);
  });

  test.skipIf(!implementation)('removes an entry with its last removal', async () => {
    const { ada, bob } = await pair();
    const followed = ada.registry.follow(['w:one']);
    const ends = [bob.registry.add('w:one'), bob.registry.add('w:one')];
    await has(followed, 'bob');
    ends[0]?.();
    ends[0]?.();
    await delivered(bob, ada);
    expect(followed.nodes).toEqual(['bob']);
    ends[1]?.();
    await has(followed);
    const later = ada.registry.follow(['w:one']);
    await later.ready;
    expect(later.nodes).toEqual([]);
  });

  test.skipIf(!implementation)('keeps the same list of nodes until it changes', async () => {
    const { ada, bob } = await pair();
    const followed = ada.registry.follow(['w:one', 'o:owner', 'o:*']);
    bob.registry.add('w:one');
    await has(followed, 'bob');
    const before = followed.nodes;
    bob.registry.add('o:owner');
    await until(() => followed.entries.length === 2);
    expect(followed.nodes).toBe(before);
    const eve = await nodes.open('eve');
    eve.registry.add('o:*');
    await has(followed, 'bob', 'eve');
  });

  test.skipIf(!implementation)('reports values and their changes', async () => {
    const { ada, bob } = await pair();
    const followed = ada.registry.follow(['c:owner']);
    let changes = 0;
    followed.onChange(() => changes++);
    const end = bob.registry.add('c:owner', { id: 'socket', value: { tools: ['click'] } });
    await until(() => followed.entries.length === 1);
    expect(followed.entries).toMatchObject([
      { key: 'c:owner', node: 'bob', id: 'socket', value: { tools: ['click'] } },
    ]);
    const endAgain = bob.registry.add('c:owner', { id: 'socket', value: { tools: ['click', 'type'] } });
    await until(() => JSON.stringify(followed.entries[0]?.value) === '{"tools":["click","type"]}');
    end();
    endAgain();
    await has(followed);
    expect(changes).toBe(3);
    const later = ada.registry.follow(['c:owner']);
    await later.ready;
    expect(later.entries).toEqual([]);
  });

  test.skipIf(!implementation)('drops the entries of a node that is gone', async () => {
    const { ada, bob } = await pair();
    bob.registry.add('w:one');
    const followed = ada.registry.follow(['w:one']);
    await has(followed, 'bob');
    // A message of the node, such as the announcement of the entry, would bring it back.
    await delivered(bob, ada);
    ada.registry.forget('bob');
    expect(followed.nodes).toEqual([]);
    const later = ada.registry.follow(['w:one', 'w:two']);
    await later.ready;
    expect(later.nodes).toEqual([]);
  });

  test.skipIf(!implementation)('restores the entries of a node that was only paused', async () => {
    const { ada, bob } = await pair();
    bob.registry.add('w:one');
    const followed = ada.registry.follow(['w:one']);
    await has(followed, 'bob');
    ada.registry.forget('bob');
    bob.send(['ada'], note('awake'));
    await has(followed, 'bob');
  });

  test.skipIf(!implementation)('does not notify a closed follower', async () => {
    const { ada, bob } = await pair();
    const followed = ada.registry.follow(['w:one']);
    followed.onChange(() => {
      throw new Error('notified after close');
    });
    followed.close();
    bob.registry.add('w:one');
    await delivered(bob, ada);
    expect(followed.nodes).toEqual([]);
  });

  test.skipIf(!implementation)('expires entries that are not renewed, and keeps the others', async () => {
    nodes = await Nodes.on(implementation);
    const renewed = await nodes.open('renewed', { timings: { expiryMs: 400, renewMs: 50, rereadMs: 50 } });
    const silent = await nodes.open('silent', {
      timings: { expiryMs: 400, renewMs: 60_000, rereadMs: 50 },
    });
    const reader = await nodes.open('reader', { timings: { expiryMs: 400, renewMs: 50, rereadMs: 50 } });
    renewed.registry.add('w:one');
    silent.registry.add('w:one');
    const followed = reader.registry.follow(['w:one']);
    await has(followed, 'renewed', 'silent');
    // Both the mirror and the set have dropped it.
    await has(followed, 'renewed');
    const later = reader.registry.follow(['w:one', 'w:two']);
    await later.ready;
    expect(later.nodes).toEqual(['renewed']);
  });

  test.skipIf(!implementation)('registers everything again after the pubSub has lost it', async () => {
    const { ada, bob } = await pair();
    bob.registry.add('w:one');
    bob.registry.add('c:owner', { id: 'socket', value: 'tools' });
    const followed = ada.registry.follow(['w:one']);
    await has(followed, 'bob');
    await nodes.network.kill();
    await until(() => !ada.up && !bob.up);
    const whileDown = ada.registry.follow(['c:owner']);
    await whileDown.ready;
    bob.registry.add('w:two');
    await nodes.network.restart();
    await Promise.all([isUp(ada), isUp(bob)]);
    const afterwards = ada.registry.follow(['w:one', 'w:two']);
    await until(() => whileDown.nodes.length === 1 && afterwards.entries.length === 2);
    const eve = await nodes.open('eve');
    const fresh = eve.registry.follow(['w:one', 'w:two', 'c:owner']);
    await fresh.ready;
    expect(fresh.entries.map(({ key }) => key).sort()).toEqual(['c:owner', 'w:one', 'w:two']);
    expect(followed.nodes).toEqual(['bob']);
  });

  test.skipIf(!implementation)('drops entries removed while their node was disconnected', async () => {
    const { ada, bob } = await pair();
    const end = bob.registry.add('w:one');
    const followed = ada.registry.follow(['w:one']);
    await has(followed, 'bob');
    await nodes.network.cut(bob);
    await isDown(bob);
    end();
    await nodes.network.repair(bob);
    await isUp(bob);
    await has(followed);
  });

  test.skipIf(!implementation)('drops entries removed while messages were lost', async () => {
    const { ada, bob } = await pair();
    const end = bob.registry.add('w:one');
    const followed = ada.registry.follow(['w:one']);
    await has(followed, 'bob');
    await nodes.network.kill();
    await until(() => !ada.up && !bob.up);
    end();
    await nodes.network.restart();
    await Promise.all([isUp(ada), isUp(bob)]);
    await has(followed);
    ada.send(['bob'], note('still there'));
    await until(() => bob.received.length === 1);
  });
}
