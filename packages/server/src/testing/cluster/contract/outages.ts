import { afterEach, expect, test } from 'bun:test';
import { until } from '../../until.ts';
import { delivered, type Implementation, isDown, isUp, Nodes, note } from './network.ts';

export function outagesContract(implementation: Implementation): void {
  let nodes: Nodes;
  afterEach(() => nodes?.close());

  const pair = async () => {
    nodes = await Nodes.on(implementation);
    return { ada: await nodes.open('ada'), bob: await nodes.open('bob') };
  };

  test.skipIf(!implementation)('reports going down and coming up, once each', async () => {
    const { ada } = await pair();
    const reported: string[] = [];
    ada.onDown(() => reported.push(`down, up is ${ada.up}`));
    ada.onUp(() => reported.push(`up, up is ${ada.up}`));
    for (let round = 0; round < 2; round++) {
      await nodes.network.kill();
      await isDown(ada);
      await nodes.network.restart();
      await isUp(ada);
    }
    const round = ['down, up is false', 'up, up is true'];
    expect(reported).toEqual([...round, ...round]);
  });

  test.skipIf(!implementation)('drops messages while it is down, and delivers later ones', async () => {
    const { ada, bob } = await pair();
    await nodes.network.kill();
    await Promise.all([isDown(ada), isDown(bob)]);
    ada.send(['bob'], note('while down'));
    ada.broadcast(note('while down'));
    await nodes.network.restart();
    await Promise.all([isUp(ada), isUp(bob)]);
    ada.send(['bob'], note('later'));
    ada.broadcast(note('later still'));
    await delivered(ada, bob);
    expect(bob.received).toEqual(['ada: later', 'ada: later still']);
  });

  test.skipIf(!implementation)('delivers in order and at most once across an outage', async () => {
    const { ada, bob } = await pair();
    let sent = 0;
    const sending = setInterval(() => ada.send(['bob'], note(String(sent++))), 1);
    await until(() => bob.received.length > 20);
    await nodes.network.kill();
    await Promise.all([isDown(ada), isDown(bob)]);
    await nodes.network.restart();
    await Promise.all([isUp(ada), isUp(bob)]);
    const before = bob.received.length;
    await until(() => bob.received.length > before + 20);
    clearInterval(sending);
    const numbers = bob.received.map((text) => Number(text.slice('ada: '.length)));
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
  });

  test.skipIf(!implementation)('logs a listener that throws, and calls the others', async () => {
    nodes = await Nodes.on(implementation);
    const failures: string[] = [];
    const ignore = () => undefined;
    const ada = await nodes.open('ada', {
      log: { debug: ignore, info: ignore, warn: ignore, error: (_data, message) => failures.push(message) },
    });
    let called = 0;
    ada.onDown(() => {
      throw new Error('a bug');
    });
    ada.onDown(() => called++);
    await nodes.network.kill();
    await isDown(ada);
    expect(called).toBe(1);
    expect(failures).toEqual(['bus listener failed']);
  });
}
