import { afterEach, expect, test } from 'bun:test';
import { until } from '../../until.ts';
import { delivered, type Implementation, Nodes, note } from './network.ts';

export function messagesContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async () => {
    nodes = await Nodes.on(implementation);
    return { ada: await nodes.open('ada'), bob: await nodes.open('bob') };
  };

  test.skipIf(!implementation)('delivers the messages of one sender in order and once', async () => {
    const { ada, bob } = await pair();
    const numbers = Array.from({ length: 5_000 }, (_, index) => String(index));
    for (const number of numbers) ada.send(['bob'], note(number));
    await delivered(ada, bob);
    expect(bob.received).toEqual(numbers.map((number) => `ada: ${number}`));
  });

  test.skipIf(!implementation)('keeps the order between messages that are sent and broadcast', async () => {
    const { ada, bob } = await pair();
    const numbers = Array.from({ length: 300 }, (_, index) => String(index));
    for (const [index, number] of numbers.entries()) {
      if (index % 3 === 0) ada.broadcast(note(number));
      else ada.send(['bob'], note(number));
    }
    await delivered(ada, bob);
    expect(bob.received).toEqual(numbers.map((number) => `ada: ${number}`));
  });

  test.skipIf(!implementation)('sends only to the named nodes, and broadcasts to all others', async () => {
    const { ada, bob } = await pair();
    const eve = await nodes.open('eve');
    ada.send(['bob'], note('to one'));
    ada.send(['bob', 'eve'], note('to two'));
    ada.send([], note('to nobody'));
    ada.broadcast(note('to all'));
    await Promise.all([delivered(ada, bob), delivered(ada, eve)]);
    await delivered(bob, ada);
    expect(bob.received).toEqual(['ada: to one', 'ada: to two', 'ada: to all']);
    expect(eve.received).toEqual(['ada: to two', 'ada: to all']);
    expect(ada.received).toEqual([]);
  });

  test.skipIf(!implementation)('encodes a message before sending returns', async () => {
    const { ada, bob } = await pair();
    const body = { text: 'before' };
    const bodies: unknown[] = [];
    bob.on('object', (received) => bodies.push(received));
    ada.send(['bob'], { kind: 'object', body });
    body.text = 'after';
    await delivered(ada, bob);
    expect(bodies).toEqual([{ text: 'before' }]);
  });

  test.skipIf(!implementation)('carries any text', async () => {
    const { ada, bob } = await pair();
    const texts = ['', '\u0000', '"\\\n\r\u2028', '\ud800', 'ä€😀', '__proto__', 'x'.repeat(300_000)];
    for (const text of texts) ada.send(['bob'], note(text));
    await delivered(ada, bob);
    expect(bob.received).toEqual(texts.map((text) => `ada: ${text}`));
  });

  test.skipIf(!implementation)('reports an oversized message as lost, and continues', async () => {
    const { ada, bob } = await pair();
    const lost: string[] = [];
    bob.onLost((from) => lost.push(from));
    ada.send(['bob'], note('before'));
    ada.send(['bob'], note('x'.repeat(9_000_000)));
    ada.send(['bob'], note('after'));
    await delivered(ada, bob);
    expect(bob.received).toEqual(['ada: before', 'ada: after']);
    expect(lost).toEqual(['ada']);
    expect(ada.counted.get('bus_dropped oversized')).toBe(1);
  });

  test.skipIf(!implementation)('counts messages without a receiver or whose receiver throws', async () => {
    const { ada, bob } = await pair();
    bob.on('bad', () => {
      throw new Error('not what was expected');
    });
    ada.send(['bob'], { kind: 'unknown', body: null });
    ada.send(['bob'], { kind: 'bad', body: null });
    await delivered(ada, bob);
    expect(bob.counted.get('bus_dropped unhandled')).toBe(1);
    expect(bob.counted.get('bus_dropped invalid')).toBe(1);
  });

  test.skipIf(!implementation)('has one receiver for a kind at a time', async () => {
    const { bob } = await pair();
    expect(() => bob.on('note', () => undefined)).toThrow('have a receiver');
    const end = bob.on('other', () => undefined);
    end();
    bob.on('other', () => undefined);
  });

  test.skipIf(!implementation)('does not receive messages of another cluster', async () => {
    const { ada, bob } = await pair();
    const stranger = await nodes.open('stranger', { cluster: 'another' });
    stranger.send(['bob'], note('hello'));
    stranger.broadcast(note('hello all'));
    const other = await nodes.open('friend', { cluster: 'another' });
    await delivered(stranger, other);
    await delivered(ada, bob);
    expect(bob.received).toEqual([]);
  });

  test.skipIf(!implementation)('knows the other nodes', async () => {
    const { ada, bob } = await pair();
    await until(() => ada.others.nodes.join() === 'bob' && bob.others.nodes.join() === 'ada');
    const eve = await nodes.open('eve');
    await until(() => ada.others.nodes.join() === 'bob,eve' && eve.others.nodes.join() === 'ada,bob');
    await bob.close();
    await until(() => ada.others.nodes.join() === 'eve');
  });

  test.skipIf(!implementation)('notifies the others when a node closes', async () => {
    const { ada, bob } = await pair();
    bob.registry.add('key');
    const followed = ada.registry.follow(['key']);
    await until(() => followed.nodes.length === 1);
    await bob.close();
    await until(() => followed.nodes.length === 0);
    expect(bob.up).toBe(false);
  });
}
