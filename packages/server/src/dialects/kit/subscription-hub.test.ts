import { expect, test } from 'bun:test';
import { type ConnectionId, LOCAL } from '@parlance/protocol';
import type { Engine, Watch } from '../../core/index.ts';
import type { Subscriber } from '../../http/connection.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { says } from '../../testing/scripted-provider.ts';
import { quiet, ticks } from '../../testing/ticks.ts';
import { native } from '../native/dialect.ts';
import type { Projection } from './projection.ts';
import { SubscriptionHub } from './subscription-hub.ts';

const ignore = () => undefined;
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

type FakeSubscriber = Subscriber & { open: boolean; readonly sent: string[] };
const fakeSubscriber = (id: string): FakeSubscriber => {
  const sent: string[] = [];
  return {
    id: id as ConnectionId,
    open: true,
    sent,
    send: (text) => void sent.push(text),
    close: ignore,
  };
};

/** Wraps the engine and counts its watchers. */
function counted(engine: Engine): { engine: Engine; watching: () => number } {
  let watching = 0;
  const watch: Engine['watch'] = (ref, sink, options) => {
    const begin = (began: Watch) => {
      watching++;
      const stop = () => {
        watching--;
        began.stop();
      };
      options?.begin?.({ ...began, stop });
    };
    return engine.watch(ref, sink, { ...options, begin });
  };
  return { engine: { watch } as Engine, watching: () => watching };
}

const leave = (hub: SubscriptionHub<unknown>, subscriber: FakeSubscriber) => {
  subscriber.open = false;
  hub.leave(subscriber);
};

const MOMENTS = Array.from({ length: 16 }, (_, index) => index);

test('subscribers that join and leave at any moment are cleaned up and do not affect others', async () => {
  for (const joins of MOMENTS) {
    for (const leaves of MOMENTS) {
      const { engine } = await createHarness([says('Hello ', 'there.')]);
      const { engine: watched, watching } = counted(engine);
      const hub = new SubscriptionHub(watched, native.projection, { log: quietLog });
      const [brief, stays] = [fakeSubscriber('brief'), fakeSubscriber('stays')];
      const briefly = hub.subscribe(SESSION, brief);
      const gone = ticks(leaves).then(() => leave(hub, brief));
      const joined = ticks(joins).then(() => hub.subscribe(SESSION, stays));
      await Promise.all([briefly, gone, joined]);
      const before = brief.sent.length;
      await say(engine, 'Hi');
      await engine.whenIdle(SESSION);
      await quiet();
      expect({ joins, leaves, sent: stays.sent.length }).toEqual({ joins, leaves, sent: 9 });
      expect(brief.sent).toHaveLength(before);
      expect(watching()).toBe(1);
      leave(hub, stays);
      expect(watching()).toBe(0);
    }
  }
});

test('a subscriber that subscribes twice, at once or later, receives everything once', async () => {
  const { engine } = await createHarness([says('Hello.')]);
  const hub = new SubscriptionHub(engine, native.projection, { log: quietLog });
  const subscriber = fakeSubscriber('twice');
  await Promise.all([hub.subscribe(SESSION, subscriber), hub.subscribe(SESSION, subscriber)]);
  await hub.subscribe(SESSION, subscriber);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(new Set(subscriber.sent).size).toBe(subscriber.sent.length);
  expect(subscriber.sent).toHaveLength(8);
});

test('a subscriber of an owner receives nothing after it leaves', async () => {
  const { engine } = await createHarness([says('Hello.'), says('Again.')]);
  const hub = new SubscriptionHub(engine, native.projection, { log: quietLog });
  const [brief, stays] = [fakeSubscriber('brief'), fakeSubscriber('stays')];
  for (const subscriber of [brief, stays]) hub.subscribeOwner(LOCAL.id, subscriber);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(brief.sent).toEqual(stays.sent);
  leave(hub, brief);
  const before = brief.sent.length;
  await say(engine, 'Again');
  await engine.whenIdle(SESSION);
  expect(brief.sent).toHaveLength(before);
  expect(stays.sent.length).toBeGreaterThan(before);
});

/** A projection that counts its starts. */
function countingProjection(): { projection: Projection<number>; beginnings: () => number } {
  let beginnings = 0;
  return {
    beginnings: () => beginnings,
    projection: { start: () => ++beginnings, step: (state) => [state, []], attach: () => [] },
  };
}

test('the state of an idle session is dropped, and kept while the next input is queued', async () => {
  const { engine } = await createHarness([says('One.'), says('Two.'), says('Three.')]);
  await engine.send(SESSION, { type: 'session.create' }, CALLER);
  const { projection, beginnings } = countingProjection();
  new SubscriptionHub(engine, projection, { log: quietLog }).subscribeOwner(
    LOCAL.id,
    fakeSubscriber('owner'),
  );
  await Promise.all([say(engine, 'First'), say(engine, 'Second')]);
  await engine.whenIdle(SESSION);
  expect(beginnings()).toBe(1);
  await say(engine, 'Third');
  await engine.whenIdle(SESSION);
  expect(beginnings()).toBe(2);
  for (const title of ['a', 'b']) await engine.send(SESSION, { type: 'session.rename', title }, CALLER);
  expect(beginnings()).toBe(4);
});

test('a subscription to an unreadable session is rejected and can be retried', async () => {
  const { engine } = await createHarness([]);
  let broken = true;
  const watch: Engine['watch'] = (...given) =>
    broken ? Promise.reject(new Error('not an event')) : engine.watch(...given);
  const hub = new SubscriptionHub({ watch } as Engine, native.projection, { log: quietLog });
  const subscriber = fakeSubscriber('patient');
  await expect(hub.subscribe(SESSION, subscriber)).rejects.toThrow('not an event');
  broken = false;
  await hub.subscribe(SESSION, subscriber);
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(subscriber.sent.length).toBeGreaterThan(0);
});
