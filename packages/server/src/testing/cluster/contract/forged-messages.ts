/** Attackers with write access to the pub/sub service can delay messages, but not send any. */
import { afterEach, expect, test } from 'bun:test';
import { encodeBatch, encodeItem, type Item, Signatures, type Stamp } from '../../../cluster/envelope.ts';

import { until } from '../../until.ts';
import { CLUSTER, delivered, type Implementation, Nodes, SECRET } from './network.ts';

const ALL = `parlance:${CLUSTER}:all`;
const CHANNEL = `parlance:${CLUSTER}:bob`;

/** Without a signature, or with one of another format. */
const INVALID = [
  '',
  'not JSON',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"version":"1"}',
  '{"version":2}',
  '['.repeat(100_000),
];

/** Signed by a node with an error. */
const INVALID_BATCHES = [
  '',
  'null',
  '{"from":"","generation":1,"number":1,"at":1,"items":[]}',
  `{"from":"${'x'.repeat(1_000)}","generation":1,"number":1,"at":1,"items":[]}`,
  '{"from":"a","generation":-1,"number":1,"at":1,"items":[]}',
  '{"from":"a","generation":1,"number":1.5,"at":1,"items":[]}',
  '{"from":"a","generation":1,"number":1,"items":[]}',
  '{"from":"a","generation":1,"number":1,"at":1,"items":{}}',
  '{"from":"a","generation":1,"number":1,"at":1,"items":[null]}',
  '{"from":"a","generation":1,"number":1,"at":1,"items":[{"kind":1}]}',
  '{"from":"a","generation":1,"number":1,"at":1,"items":[{"kind":"note","request":"1"}]}',
];

export function strangersContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async (adaSecret?: string) => {
    nodes = await Nodes.on(implementation);
    const ada = await nodes.open('ada', adaSecret ? { secret: adaSecret } : {});
    return { ada, bob: await nodes.open('bob') };
  };

  const ours = new Signatures(CLUSTER, SECRET);
  type Sent = Partial<Stamp> & { channel?: string; signatures?: Signatures; items?: Item[] };
  /** By default a batch that `bob` accepts. */
  const batch = ({ channel = CHANNEL, signatures = ours, items, ...stamp }: Sent = {}) =>
    encodeBatch(
      { from: 'stranger', generation: 1, number: 1, at: Math.ceil(nodes.network.now()), ...stamp },
      (items ?? [{ kind: 'note', body: 'hello' }]).map(encodeItem),
      { channel, signatures },
    );

  test.skipIf(!implementation)('accepts a batch that is signed with the secret of the cluster', async () => {
    const { bob } = await pair();
    await nodes.network.inject(CHANNEL, batch());
    await nodes.network.inject(ALL, batch({ channel: ALL, items: [{ kind: 'note', body: 'to all' }] }));
    await until(() => bob.received.length === 2);
    expect(bob.received).toEqual(['stranger: hello', 'stranger: to all']);
  });

  test.skipIf(!implementation)('drops and counts invalid batches', async () => {
    const { ada, bob } = await pair();
    for (const text of INVALID) await nodes.network.inject(CHANNEL, text);
    for (const text of INVALID_BATCHES)
      await nodes.network.inject(
        CHANNEL,
        `{"version":2,"signature":"${ours.of(CHANNEL, text)}","batch":${text}}`,
      );
    await until(() => bob.counted.get('bus_dropped invalid') === INVALID.length + INVALID_BATCHES.length);
    await delivered(ada, bob);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)('drops and counts batches of another version', async () => {
    const { bob } = await pair();
    await nodes.network.inject(CHANNEL, batch().replace('"version":2', '"version":3'));
    await until(() => bob.counted.get('bus_dropped version') === 1);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)(
    'drops forged, changed, cut and diverted batches on every channel',
    async () => {
      const { ada, bob } = await pair();
      const genuine = batch();
      const forged = [
        batch({ signatures: new Signatures(CLUSTER, 'another secret') }),
        batch({ signatures: new Signatures('another cluster', SECRET) }),
        batch({ channel: `parlance:${CLUSTER}:ada` }),
        batch({ channel: 'parlance:other:bob' }),
        genuine.replace('hello', 'changed'),
        genuine.replace('"from":"stranger"', '"from":"ada"'),
        genuine.replace('"number":1', '"number":2'),
        genuine.replace(/"signature":"[^"]*"/, '"signature":""'),
        genuine.replace(/"signature":"[^"]*"/, `"signature":"${'é'.repeat(64)}"`),
        ...[1, 10, 50].map((cut) => genuine.slice(0, -cut)),
      ];
      for (const channel of [CHANNEL, ALL])
        for (const text of forged) await nodes.network.inject(channel, text);
      await until(() => bob.counted.get('bus_dropped signature') === 2 * forged.length);
      await delivered(ada, bob);
      expect(bob.received).toEqual([]);
    },
  );

  test.skipIf(!implementation)('drops a repeated batch, also after a reconnect', async () => {
    const { ada, bob } = await pair();
    const text = batch();
    await nodes.network.inject(CHANNEL, text);
    await nodes.network.inject(CHANNEL, text);
    await until(() => bob.counted.get('bus_dropped repeated') === 1);
    await nodes.network.kill();
    await until(() => !bob.up && !ada.up);
    await nodes.network.restart();
    await until(() => bob.up && ada.up);
    await nodes.network.inject(CHANNEL, text);
    await until(() => bob.counted.get('bus_dropped repeated') === 2);
    await delivered(ada, bob);
    expect(bob.received).toEqual(['stranger: hello']);
  });

  test.skipIf(!implementation)('drops a recorded batch of a sender that it does not know', async () => {
    const { ada, bob } = await pair();
    const now = Math.ceil(nodes.network.now());
    const minute = 60_000;
    await nodes.network.inject(CHANNEL, batch({ at: now + minute }));
    await nodes.network.inject(ALL, batch({ channel: ALL, at: now + minute }));
    await until(() => bob.counted.get('bus_dropped stale') === 2);
    await delivered(ada, bob);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)('ignores responses from a node that was not asked', async () => {
    const { ada, bob } = await pair();
    bob.respond('question', () => 'the right answer');
    const channel = `parlance:${CLUSTER}:ada`;
    const items = [{ kind: 'question', answer: 1, body: 'a wrong answer' }];
    await nodes.network.inject(channel, batch({ channel, items }));
    const answer = ada.request('bob', { kind: 'question', body: null }, 60_000);
    await nodes.network.inject(channel, batch({ channel, items, number: 2 }));
    expect(await answer).toBe('the right answer');
  });

  test.skipIf(!implementation)('drops invalid announcements', async () => {
    const { ada, bob } = await pair();
    const followed = bob.registry.follow(['w:one']);
    const bodies = [null, 1, {}, { add: null }, { add: { key: 1, id: '' } }, { remove: [] }];
    const items = bodies.map((body) => ({ kind: 'registry', body }));
    await nodes.network.inject(CHANNEL, batch({ items }));
    await until(() => bob.counted.get('bus_dropped invalid') === bodies.length);
    await delivered(ada, bob);
    expect(followed.entries).toEqual([]);
  });

  test.skipIf(!implementation)('ignores entries that are not signed with its secret', async () => {
    const { ada, bob } = await pair('another secret');
    ada.registry.add('c:owner', { id: 'one', value: 'forged' });
    const cho = await nodes.open('cho');
    cho.registry.add('c:owner', { id: 'one', value: 'genuine' });
    await delivered(cho, bob);
    const followed = bob.registry.follow(['c:owner']);
    await followed.ready;
    expect(followed.entries).toMatchObject([{ node: 'cho', value: 'genuine' }]);
    expect(bob.others.nodes).toEqual(['cho']);
    expect(bob.counted.get('bus_dropped signature')).toBeGreaterThan(0);
  });
}
