/** Brief outages of the store at critical moments: no subscriber hangs. */
import { afterEach, expect, test } from 'bun:test';
import { isDurable, type SessionEvent, type SessionId, textPart } from '@parlance/protocol';
import { watchKey } from '../../cluster/remote-link.ts';
import { HEAD } from '../../cluster/remote-messages.ts';
import { CALLER, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { says, USAGE, writtenModel } from '../../testing/scripted-provider.ts';
import { until } from '../../testing/until.ts';

const ignore = () => undefined;
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const ALWAYS = Number.POSITIVE_INFINITY;

let opened: HarnessNode[] = [];
afterEach(async () => {
  await Promise.all(opened.map(({ engine }) => engine.drain(0)));
  opened = [];
});

async function openNode(cluster: HarnessCluster, ...given: Parameters<HarnessCluster['open']>) {
  const node = await cluster.open(...given);
  opened.push(node);
  return node;
}

const has = ({ events }: Pick<HarnessNode, 'events'>, type: SessionEvent['type']): boolean =>
  events.some((event) => event.type === type);

test('readers on another node receive the end of a turn that was unreadable when the bus came back', async () => {
  const cluster = new HarnessCluster();
  const model = writtenModel();
  const here = await openNode(cluster, [], { parts: { provider: model.provider } });
  const there = await openNode(cluster, []);
  await say(here.engine, 'Hi');
  await model.begun;
  await until(() => has(there, 'turn.started'));
  cluster.network.down();
  there.refuseReads(ALWAYS);
  model.write('Yes.');
  model.end();
  await until(() => has(here, 'turn.ended'));
  const before = there.refusedReads();
  cluster.network.up();
  await until(() => there.refusedReads() > before);
  there.refuseReads(0);
  await until(() => has(there, 'turn.ended'));
  expect(there.events.filter(isDurable)).toEqual(await cluster.store.read(SESSION, 0, 100));
});

test('readers of all sessions of an owner miss no event of a session that was unreadable at first', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [says('Yes.')]);
  const there = await openNode(cluster, []);
  const received: SessionEvent[] = [];
  const stop = there.engine.watchOwner(SESSION.owner, (event) => received.push(event));
  // Wait until the other node knows about this subscription.
  await here.engine.send(SESSION, { type: 'session.create' }, CALLER);
  for (let title = 0; received.length === 0; title++) {
    await here.engine.send(SESSION, { type: 'session.rename', title: String(title) }, CALLER);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const other = { ...SESSION, id: 'another' as SessionId };
  await here.engine.send(other, { type: 'session.create' }, CALLER);
  await until(() => received.some(({ session }) => session === other.id));
  received.length = 0;
  const third = { ...SESSION, id: 'third' as SessionId };
  const load = there.refusedReads();
  there.refuseReads(2);
  await here.engine.send(third, { type: 'input.submit', parts: [textPart('Hi')], mode: 'queue' }, CALLER);
  await until(() => there.refusedReads() > load);
  await until(() => received.some(({ type }) => type === 'turn.ended'));
  const own = received.filter(({ session }) => session === third.id).filter(isDurable);
  expect(own).toEqual(await cluster.store.read(third, 0, 100));
  stop();
});

test('a turn is retried soon after a store outage, regardless of the backoff', async () => {
  const cluster = new HarnessCluster();
  const node = await openNode(cluster, [says('Lost.'), says('Kept.')], {
    parts: { retryDelayMs: () => 600_000 },
  });
  await node.engine.watch(SESSION, (event) => {
    if (event.type === 'text.delta' && event.text === 'Lost.') node.refuse(1);
  });
  await say(node.engine, 'Hi');
  await until(() => has(node, 'turn.ended'));
});

test('a driver that was disconnected from the bus sees an answer given during that time', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [
    [
      { type: 'call', call: 'held', tool: 'endless', input: {} },
      { type: 'call', call: 'asked', tool: 'shell', input: { command: ['ls'] } },
      { type: 'ended', usage: USAGE, stop: 'calls' },
    ],
    says('Done.'),
  ]);
  const there = await openNode(cluster, []);
  await say(here.engine, 'Go');
  await until(() => has(there, 'approval.requested'));
  cluster.network.cut(here.leases.node);
  await there.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
  // Longer than messages are buffered: the message has been sent, and lost.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(has(here, 'approval.answered')).toBe(false);
  cluster.network.repair(here.leases.node);
  await until(() => has(here, 'approval.answered'));
});

test('readers on another node receive events that a node stored but did not send before it died', async () => {
  const cluster = new HarnessCluster();
  const model = writtenModel();
  const here = await openNode(cluster, [], { parts: { provider: model.provider } });
  const there = await openNode(cluster, []);
  await say(here.engine, 'Hi');
  await model.begun;
  await until(() => has(there, 'turn.started') && there.transport.others.nodes.length === 1);
  cluster.network.cut(here.leases.node);
  model.write('Yes.');
  model.end();
  await until(() => has(here, 'turn.ended'));
  here.kill();
  there.transport.registry.forget(here.leases.node);
  await until(() => has(there, 'turn.ended'));
  expect(there.events.filter(isDurable)).toEqual(await cluster.store.read(SESSION, 0, 100));
});

test('a new watcher receives the current position from nodes that have stored events', async () => {
  const cluster = new HarnessCluster();
  const here = await openNode(cluster, [says('Yes.')]);
  await say(here.engine, 'Hi');
  await here.engine.whenIdle(SESSION);
  const head = Promise.withResolvers<unknown>();
  const late = cluster.network.open('late', { log: QUIET });
  late.on(HEAD, (body) => head.resolve(body));
  await until(() => late.up);
  late.registry.add(watchKey(SESSION));
  expect(await head.promise).toEqual([SESSION.owner, SESSION.id, await cluster.store.head(SESSION)]);
  await late.close();
});
