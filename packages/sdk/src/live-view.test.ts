import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import { type DictatedModel, dictatedModel } from '../../../e2e/scripted-model.ts';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { until, within } from '../../server/src/testing/until.ts';
import { connect } from './connect.ts';
import type { SessionStreamEvent } from './cursor.ts';
import { ParlanceError } from './error.ts';
import type { EventsOptions } from './event-stream.ts';
import { type LiveView, liveView } from './live-view.ts';
import { manualClock } from './testing/manual-clock.ts';
import { proxyTo, type TestProxy } from './testing/proxy.ts';
import { EMPTY, foldAll, type SessionView } from './view.ts';

let model: DictatedModel;
let server: TestServer;
let proxy: TestProxy;
beforeAll(async () => {
  model = dictatedModel();
  server = await startTestServer(model.settings);
  proxy = await proxyTo(server.running.port);
});
afterAll(async () => {
  await proxy.stop();
  await server.stop();
  model.stop();
});

const reach = () => connect({ url: proxy.url, backoff: { baseMs: 1, maxMs: 5 } });

/** Resolves when a notification finds the condition true. */
async function reached(live: LiveView, so: (live: LiveView) => boolean): Promise<void> {
  while (!so(live)) {
    const told = Promise.withResolvers<void>();
    const stop = live.subscribe(told.resolve);
    await within(told.promise, `${so}`).finally(stop);
  }
}

const isLive = (live: LiveView) => live.connection().status === 'live';
const says = (text: string) => (live: LiveView) => JSON.stringify(live.view()).includes(text);

describe('a live view', () => {
  test('follows the session over a connection that is cut', async () => {
    const session = reach().session('live');
    await session.submit('Go');
    const live = session.live();
    expect(live.view()).toBe(EMPTY);
    await reached(live, isLive);
    model.say('One ');
    await reached(live, says('"One "'));
    proxy.cut();
    model.say('two.');
    await reached(live, says('"One two."'));
    model.end();
    await reached(live, ({ view }) => view().status === 'idle');
    expect(live.view()).toEqual(foldAll(EMPTY, (await session.historyPage()).events));
    live.close();
    expect(await live.closed).toBeNull();
    expect(live.connection()).toEqual({ status: 'closed', fault: null });
  });

  test('continues from a given view', async () => {
    const session = reach().session('live');
    const events = (await session.historyPage()).events;
    const start = foldAll(EMPTY, events.slice(0, 2));
    const live = session.live(start);
    expect(live.view()).toBe(start);
    await reached(live, isLive);
    expect(live.view()).toEqual(foldAll(EMPTY, events));
    live.close();
    await live.closed;
  });

  test('does not change while history is replayed', async () => {
    const history = (await reach().session('live').historyPage()).events;
    const stale: SessionView = { ...EMPTY, seq: 999, title: 'of another database' };
    const titles: string[] = [];
    const fault = new ParlanceError('unreachable', 'Cut.');
    async function* events({ onState }: EventsOptions): AsyncGenerator<SessionStreamEvent> {
      const { seq } = history.at(-1) as DurableEvent;
      onState?.({ status: 'connecting', failures: 0 });
      yield* [{ type: 'reset' } as const, ...history.slice(0, 3)];
      onState?.({ status: 'waiting', retryAt: 0, failures: 1, fault, retryNow: () => undefined });
      onState?.({ status: 'connecting', failures: 1 });
      yield* history.slice(3);
      onState?.({ status: 'live' });
      yield { type: 'snapshot', seq, turn: null, open: null, approval: null };
      onState?.({ status: 'closed', fault: null });
    }
    const live = liveView(events, manualClock(), stale);
    live.subscribe(() => titles.push(`${live.connection().status}: ${live.view().title}`));
    await live.closed;
    expect(titles).toEqual([
      'waiting: of another database',
      'connecting: of another database',
      'live: Go',
      'closed: Go',
    ]);
  });

  test('is the same object until listeners are notified, once for many deltas', async () => {
    const clock = manualClock();
    const session = connect({ url: server.http, clock }).session('often');
    await session.submit('Go');
    const live = session.live();
    await reached(live, isLive);
    const before = live.view();
    let told = 0;
    live.subscribe(() => told++);
    const watcher = connect({ url: server.http }).session('often').live();
    for (const word of ['a ', 'b ', 'c ']) model.say(word);
    await reached(watcher, says('"a b c "'));
    await until(() => clock.waiting().includes(16));
    expect([told, live.view()]).toEqual([0, before]);
    clock.advance(16);
    expect(told).toBe(1);
    expect(live.view()).not.toBe(before);
    model.end();
    for (const each of [live, watcher]) each.close();
    await Promise.all([live.closed, watcher.closed]);
  });

  test('of an unknown session closes with the error', async () => {
    const live = reach().session('nowhere').live();
    expect(await live.closed).toMatchObject({ code: 'not_found' });
    expect(live.connection()).toMatchObject({ status: 'closed', fault: { code: 'not_found' } });
  });

  test('that waits to reconnect can retry now', async () => {
    const session = connect({ url: proxy.url, clock: manualClock() }).session('live');
    proxy.refuse(true);
    proxy.cut();
    const live = session.live();
    await reached(live, ({ connection }) => connection().status === 'waiting');
    proxy.refuse(false);
    live.retryNow();
    await reached(live, isLive);
    live.retryNow();
    expect(live.view().title).toBe('Go');
    live.close();
    await live.closed;
  });
});
