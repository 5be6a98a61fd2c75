import { afterEach, expect, test } from 'bun:test';
import { NoAnswer } from '../../../cluster/transport.ts';
import { type Implementation, isDown, Nodes, note } from './network.ts';

const LONG = 60_000;

export function requestsContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async () => {
    nodes = await Nodes.on(implementation);
    return { ada: await nodes.open('ada'), bob: await nodes.open('bob') };
  };

  test.skipIf(!implementation)('resolves with the response of the addressed node', async () => {
    const { ada, bob } = await pair();
    bob.respond('double', (body, from) => ({ from, doubled: Number(body) * 2 }));
    const answers = await Promise.all(
      [1, 2, 3].map((body) => ada.request('bob', { kind: 'double', body }, LONG)),
    );
    expect(answers).toEqual([2, 4, 6].map((doubled) => ({ from: 'ada', doubled })));
  });

  test.skipIf(!implementation)('waits for a slow response', async () => {
    const { ada, bob } = await pair();
    const { promise, resolve } = Promise.withResolvers<string>();
    bob.respond('slow', () => promise);
    const answer = ada.request('bob', { kind: 'slow', body: null }, LONG);
    bob.respond('quick', () => 'first');
    expect(await ada.request('bob', { kind: 'quick', body: null }, LONG)).toBe('first');
    resolve('at last');
    expect(await answer).toBe('at last');
  });

  test.skipIf(!implementation)('receives earlier messages before the request', async () => {
    const { ada, bob } = await pair();
    bob.respond('seen', () => [...bob.received]);
    ada.send(['bob'], note('one'));
    ada.broadcast(note('two'));
    expect(await ada.request('bob', { kind: 'seen', body: null }, LONG)).toEqual(['ada: one', 'ada: two']);
  });

  test.skipIf(!implementation)('rejects if there is no response in time', async () => {
    const { ada, bob } = await pair();
    bob.respond('never', () => new Promise(() => undefined));
    const answer = ada.request('bob', { kind: 'never', body: null }, 5);
    await expect(answer).rejects.toThrow(NoAnswer);
  });

  test.skipIf(!implementation)('rejects with the error of the other node', async () => {
    const { ada, bob } = await pair();
    bob.respond('refuse', () => {
      throw new Error('not driven here');
    });
    const refused = ada.request('bob', { kind: 'refuse', body: null }, LONG);
    await expect(refused).rejects.toEqual(new NoAnswer('not driven here', 'refused'));
    const unknown = ada.request('bob', { kind: 'unknown', body: null }, LONG);
    await expect(unknown).rejects.toThrow(NoAnswer);
  });

  test.skipIf(!implementation)('rejects immediately if the node does not exist', async () => {
    const { ada } = await pair();
    await expect(ada.request('nobody', note('?'), LONG)).rejects.toThrow('does not listen');
  });

  test.skipIf(!implementation)('rejects pending and later requests when the bus goes down', async () => {
    const { ada, bob } = await pair();
    bob.respond('never', () => new Promise(() => undefined));
    const waiting = ada.request('bob', { kind: 'never', body: null }, LONG);
    const failure = waiting.catch((thrown: unknown) => thrown);
    await nodes.network.kill();
    await isDown(ada);
    expect(await failure).toEqual(new NoAnswer('the bus is down', 'unknown'));
    await expect(ada.request('bob', note('?'), LONG)).rejects.toThrow(NoAnswer);
  });
}
