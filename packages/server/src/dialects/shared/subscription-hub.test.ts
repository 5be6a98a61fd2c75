import { expect, test } from 'bun:test';
import { type ConnectionId, LOCAL } from '@parlance/protocol';
import type { Engine } from '../../core/api/index.ts';
import type { Socket } from '../../http/connection.ts';
import { says } from '../../testing/scripted-provider.ts';
import { CALLER, SESSION, say, setStage } from '../../testing/stage.ts';
import { quiet, ticks } from '../../testing/ticks.ts';
import { native } from '../native/dialect.ts';
import type { Projection } from './projection.ts';
import { SubscriptionHub } from './subscription-hub.ts';

const ignore = () => undefined;
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

type FakeSocket = Socket & { open: boolean; readonly sent: string[] };
const fakeSocket = (id: string): FakeSocket => {
  const sent: string[] = [];
  return {
    id: id as ConnectionId,
    principal: LOCAL,
    session: null,
    open: true,
    sent,
    send: (frame) => void sent.push(JSON.stringify(frame)),
    speaks: () => undefined,
    tap: () => undefined,
    sendText: (text) => void sent.push(text),
    close: ignore,
  };
};

/** The engine, and how many watch through it. */
function counted(engine: Engine): { engine: Engine; watching: () => number } {
  let watching = 0;
  const watch: Engine['watch'] = (ref, after, sink, begin) =>
    engine.watch(ref, after, sink, (began) => {
      watching++;
      const stop = () => {
        watching--;
        began.stop();
      };
      begin?.({ ...began, stop });
    });
  return { engine: { watch } as Engine, watching: () => watching };
}

const leave = (hub: SubscriptionHub<unknown>, socket: FakeSocket) => {
  socket.open = false;
  hub.leave(socket);
};

const MOMENTS = Array.from({ length: 16 }, (_, index) => index);

test('sockets that come and go at any moment leave nothing behind and take nothing from the others', async () => {
  for (const joins of MOMENTS) {
    for (const leaves of MOMENTS) {
      const { engine } = await setStage([says('Hello ', 'there.')]);
      const { engine: watched, watching } = counted(engine);
      const hub = new SubscriptionHub(watched, native.projection, quietLog);
      const [brief, stays] = [fakeSocket('brief'), fakeSocket('stays')];
      const briefly = hub.join(SESSION, brief);
      const gone = ticks(leaves).then(() => leave(hub, brief));
      const joined = ticks(joins).then(() => hub.join(SESSION, stays));
      await Promise.all([briefly, gone, joined]);
      const before = brief.sent.length;
      await say(engine, 'Hi');
      await engine.rested(SESSION);
      await quiet();
      expect({ joins, leaves, sent: stays.sent.length }).toEqual({ joins, leaves, sent: 8 });
      expect(brief.sent).toHaveLength(before);
      expect(watching()).toBe(1);
      leave(hub, stays);
      expect(watching()).toBe(0);
    }
  }
});

test('a socket that joins twice, at once or later, is told everything once', async () => {
  const { engine } = await setStage([says('Hello.')]);
  const hub = new SubscriptionHub(engine, native.projection, quietLog);
  const socket = fakeSocket('twice');
  await Promise.all([hub.join(SESSION, socket), hub.join(SESSION, socket)]);
  await hub.join(SESSION, socket);
  await say(engine, 'Hi');
  await engine.rested(SESSION);
  expect(new Set(socket.sent).size).toBe(socket.sent.length);
  expect(socket.sent).toHaveLength(7);
});

test('a socket that hears an owner and leaves is told no more', async () => {
  const { engine } = await setStage([says('Hello.'), says('Again.')]);
  const hub = new SubscriptionHub(engine, native.projection, quietLog);
  const [brief, stays] = [fakeSocket('brief'), fakeSocket('stays')];
  for (const socket of [brief, stays]) hub.subscribeOwner(LOCAL.id, socket);
  await say(engine, 'Hi');
  await engine.rested(SESSION);
  expect(brief.sent).toEqual(stays.sent);
  leave(hub, brief);
  const before = brief.sent.length;
  await say(engine, 'Again');
  await engine.rested(SESSION);
  expect(brief.sent).toHaveLength(before);
  expect(stays.sent.length).toBeGreaterThan(before);
});

/** A projection that shows how often it was begun: `beginnings` is how many states there have been. */
function countingProjection(): { projection: Projection<number>; beginnings: () => number } {
  let beginnings = 0;
  return {
    beginnings: () => beginnings,
    projection: { start: () => ++beginnings, step: (state) => [state, []], attach: () => [] },
  };
}

test('who hears an owner keeps no state of a session that rests, and keeps it while the next input waits', async () => {
  const { engine } = await setStage([says('One.'), says('Two.'), says('Three.')]);
  await engine.send(SESSION, { type: 'session.create' }, CALLER);
  const { projection, beginnings } = countingProjection();
  new SubscriptionHub(engine, projection, quietLog).subscribeOwner(LOCAL.id, fakeSocket('hears'));
  await Promise.all([say(engine, 'First'), say(engine, 'Second')]);
  await engine.rested(SESSION);
  expect(beginnings()).toBe(1);
  await say(engine, 'Third');
  await engine.rested(SESSION);
  expect(beginnings()).toBe(2);
  for (const title of ['a', 'b']) await engine.send(SESSION, { type: 'session.rename', title }, CALLER);
  expect(beginnings()).toBe(4);
});

test('who cannot be told because the session cannot be read is told by a rejection, and may try again', async () => {
  const { engine } = await setStage([]);
  let broken = true;
  const watch: Engine['watch'] = (...given) =>
    broken ? Promise.reject(new Error('not an event')) : engine.watch(...given);
  const hub = new SubscriptionHub({ watch } as Engine, native.projection, quietLog);
  const socket = fakeSocket('patient');
  await expect(hub.join(SESSION, socket)).rejects.toThrow('not an event');
  broken = false;
  await hub.join(SESSION, socket);
  await say(engine, 'Hi');
  await engine.rested(SESSION);
  expect(socket.sent.length).toBeGreaterThan(0);
});
