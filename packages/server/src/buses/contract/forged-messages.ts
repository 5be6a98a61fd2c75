/** Attackers with write access to the carrier can disturb, but not act. */
import { afterEach, expect, test } from 'bun:test';
import { until } from '../../testing/until.ts';
import { encodeBatch, encodeItem } from '../shared/envelope.ts';
import { CLUSTER, delivered, type Implementation, Nodes } from './network.ts';

const CHANNEL = `parlance:${CLUSTER}:bob`;
const STAMP = { from: 'stranger', generation: 1, number: 1 };

const INVALID = [
  '',
  'not JSON',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"version":"1"}',
  '{"version":1}',
  '{"version":1,"from":"","generation":1,"number":1,"items":[]}',
  `{"version":1,"from":"${'x'.repeat(1_000)}","generation":1,"number":1,"items":[]}`,
  '{"version":1,"from":"a","generation":-1,"number":1,"items":[]}',
  '{"version":1,"from":"a","generation":1,"number":1.5,"items":[]}',
  '{"version":1,"from":"a","generation":1,"number":1,"items":{}}',
  '{"version":1,"from":"a","generation":1,"number":1,"items":[null]}',
  '{"version":1,"from":"a","generation":1,"number":1,"items":[{"kind":1}]}',
  '{"version":1,"from":"a","generation":1,"number":1,"items":[{"kind":"note","request":"1"}]}',
  '{"version":1,"from":"a","generation":1,"number":1,"items":[{"kind":"note","signature":{}}]}',
  '['.repeat(100_000),
];

export function strangersContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async (adaSecret?: string) => {
    nodes = await Nodes.on(implementation);
    const ada = await nodes.open('ada', adaSecret ? { secret: adaSecret } : {});
    return { ada, bob: await nodes.open('bob') };
  };

  test.skipIf(!implementation)('drops and counts invalid batches', async () => {
    const { ada, bob } = await pair();
    for (const text of INVALID) await nodes.network.inject(CHANNEL, text);
    await until(() => bob.counted.get('bus_dropped invalid') === INVALID.length);
    await delivered(ada, bob);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)('drops and counts batches of another version', async () => {
    const { bob } = await pair();
    const text = encodeBatch(STAMP, [encodeItem({ kind: 'note', body: 'from the future' })]);
    await nodes.network.inject(CHANNEL, text.replace('"version":1', '"version":2'));
    await until(() => bob.counted.get('bus_dropped version') === 1);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)('drops a repeated batch', async () => {
    const { bob } = await pair();
    const text = encodeBatch(STAMP, [encodeItem({ kind: 'note', body: 'once' })]);
    await nodes.network.inject(CHANNEL, text);
    await nodes.network.inject(CHANNEL, text);
    await until(() => bob.counted.get('bus_dropped repeated') === 1);
    expect(bob.received).toEqual(['stranger: once']);
  });

  test.skipIf(!implementation)('ignores responses from a node that was not asked', async () => {
    const { ada, bob } = await pair();
    bob.respond('question', () => 'the right answer');
    const forged = encodeItem({ kind: 'question', answer: 1, body: 'a wrong answer' });
    await nodes.network.inject(`parlance:${CLUSTER}:ada`, encodeBatch(STAMP, [forged]));
    const answer = ada.request('bob', { kind: 'question', body: null }, 60_000);
    await nodes.network.inject(`parlance:${CLUSTER}:ada`, encodeBatch({ ...STAMP, number: 2 }, [forged]));
    expect(await answer).toBe('the right answer');
  });

  test.skipIf(!implementation)('drops invalid announcements', async () => {
    const { ada, bob } = await pair();
    const followed = bob.registry.follow(['w:one']);
    const bodies = [null, 1, {}, { add: null }, { add: { key: 1, id: '' } }, { remove: [] }];
    const items = bodies.map((body) => encodeItem({ kind: 'registry', body }));
    await nodes.network.inject(CHANNEL, encodeBatch(STAMP, items));
    await until(() => bob.counted.get('bus_dropped invalid') === bodies.length);
    await delivered(ada, bob);
    expect(followed.entries).toEqual([]);
  });

  test.skipIf(!implementation)('carries signed kinds between nodes that share the secret', async () => {
    const { ada, bob } = await pair();
    const requests: unknown[] = [];
    bob.on('tool.request', (body, from) => requests.push([from, body]));
    bob.respond('tool.answer', (body) => ({ got: String(body) }));
    ada.send(['bob'], { kind: 'tool.request', body: { tool: 'click', text: '"\u0000ä' } });
    const answer = await ada.request('bob', { kind: 'tool.answer', body: 'done' }, 60_000);
    expect(requests).toEqual([['ada', { tool: 'click', text: '"\u0000ä' }]]);
    expect(answer).toEqual({ got: 'done' });
  });

  test.skipIf(!implementation)('drops signed kinds without a valid signature', async () => {
    const { ada, bob } = await pair('another secret');
    const requests: unknown[] = [];
    bob.on('tool.request', (body) => requests.push(body));
    ada.send(['bob'], { kind: 'tool.request', body: 'with another secret' });
    await delivered(ada, bob);
    const forged = [
      { kind: 'tool.request', body: 'unsigned' },
      { kind: 'tool.request', body: '"empty"', signature: { count: 1, mac: '' } },
      { kind: 'tool.request', body: '"wrong"', signature: { count: 1, mac: 'é'.repeat(64) } },
    ];
    await nodes.network.inject(CHANNEL, encodeBatch(STAMP, forged.map(encodeItem)));
    await until(() => bob.counted.get('bus_dropped signature') === 4);
    expect(requests).toEqual([]);
  });

  test.skipIf(!implementation)('refuses to broadcast a signed kind', async () => {
    const { ada } = await pair();
    expect(() => ada.broadcast({ kind: 'tool.request', body: null })).toThrow('cannot be broadcast');
  });
}
