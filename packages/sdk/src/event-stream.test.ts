import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type DictatedModel, dictatedModel } from '../../../e2e/scripted-model.ts';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { until } from '../../server/src/testing/until.ts';
import { type ConnectOptions, connect } from './connect.ts';
import type { SessionStreamEvent } from './cursor.ts';
import { manualClock } from './testing/manual-clock.ts';
import { proxyTo, type TestProxy } from './testing/proxy.ts';
import { Reader } from './testing/reader.ts';
import { EMPTY, fold, foldAll } from './view.ts';

let model: DictatedModel;
let server: TestServer;
let proxy: TestProxy;
beforeAll(async () => {
  model = dictatedModel();
  server = await startTestServer(model.settings);
});
afterAll(async () => {
  await proxy?.stop();
  await server.stop();
  model.stop();
});

/** A client behind a proxy that can cut connections. */
async function reach(options: ConnectOptions = {}) {
  await proxy?.stop();
  proxy = await proxyTo(server.running.port);
  return connect({ url: proxy.url, backoff: { baseMs: 1, maxMs: 5 }, ...options });
}

const direct = () => connect({ url: server.http });
const textOf = (events: readonly SessionStreamEvent[]) => {
  const view = foldAll(EMPTY, events);
  return JSON.stringify(view.entries.flatMap((entry) => (entry.kind === 'turn' ? entry.items : [])));
};

describe('a connection cut during a block', () => {
  test('reconnects, and the text is complete without repetition', async () => {
    const parlance = await reach();
    const session = parlance.session('cut-inside');
    await session.submit('Go');
    const reader = new Reader((options) => session.events(options));
    model.say('One ');
    await reader.event('text.delta');
    proxy.refuse(true);
    proxy.cut();
    await reader.state('waiting');
    model.say('two ');
    const watcher = new Reader((options) => direct().session('cut-inside').events(options));
    while (!watcher.deltas.includes('two')) await watcher.event('text.delta');
    proxy.refuse(false);
    await reader.state('live');
    model.say('three.');
    while (!reader.deltas.includes('three.')) await reader.event('text.delta');
    model.end();
    const ended = await reader.event('text.ended');
    await reader.event('turn.ended');
    expect(ended.text).toBe('One two three.');
    expect(reader.deltas).toBe('One two three.');
    expect(reader.seqs).toEqual(reader.seqs.map((_, index) => index + 1));
    expect(reader.events.filter(({ type }) => type === 'snapshot')).toHaveLength(2);
    const events = (await session.historyPage()).events;
    expect(foldAll(EMPTY, reader.events)).toEqual(foldAll(EMPTY, events));
    await Promise.all([reader.stop(), watcher.stop()]);
  });

  test('that reconnects after the block has ended gets the rest with its event', async () => {
    const parlance = await reach();
    const session = parlance.session('cut-until-end');
    await session.submit('Go');
    const reader = new Reader((options) => session.events(options));
    model.say('One ');
    await reader.event('text.delta');
    proxy.refuse(true);
    proxy.cut();
    await reader.state('waiting');
    const watcher = new Reader((options) => direct().session('cut-until-end').events(options));
    await watcher.event('snapshot');
    model.say('two.');
    model.end();
    await watcher.event('turn.ended');
    proxy.refuse(false);
    await reader.event('turn.ended');
    expect(reader.deltas).toBe('One two.');
    expect(textOf(reader.events)).toBe(textOf(watcher.events));
    await Promise.all([reader.stop(), watcher.stop()]);
  });

  test('at every event folds to the same view', async () => {
    const parlance = await reach();
    const session = parlance.session('cut-always');
    await session.submit('Go');
    const reader = new Reader((options) => session.events(options));
    const words = ['a ', 'b ', 'c ', 'd ', 'e '];
    for (const word of words) {
      proxy.cut();
      model.say(word);
      while (!reader.deltas.endsWith(word)) await reader.event('text.delta');
      const view = reader.events.reduce(fold, EMPTY);
      const [turn] = view.entries;
      expect(turn?.kind === 'turn' && turn.items[0]).toMatchObject({ text: reader.deltas, state: 'open' });
    }
    model.end();
    await reader.event('turn.ended');
    expect(reader.deltas).toBe(words.join(''));
    expect(foldAll(EMPTY, reader.events)).toEqual(foldAll(EMPTY, (await session.historyPage()).events));
    await reader.stop();
  });
});

describe('the state of the connection', () => {
  test('is connecting, live, waiting with a time, and closed', async () => {
    const clock = manualClock();
    const parlance = await reach({ clock, backoff: { baseMs: 1_000, maxMs: 8_000 } });
    const session = parlance.session('states');
    await session.create();
    const reader = new Reader((options) => session.events(options));
    await reader.event('snapshot');
    proxy.refuse(true);
    proxy.cut();
    for (const ms of [500, 1_000, 2_000, 4_000, 4_000]) {
      const waiting = await reader.state('waiting');
      expect(waiting.retryAt - clock.now()).toBe(ms);
      expect(waiting.fault).toMatchObject({ code: 'unreachable' });
      clock.advance(ms - 1);
      expect(reader.states.at(-1)).toBe(waiting);
      clock.advance(1);
    }
    const last = await reader.state('waiting');
    proxy.refuse(false);
    last.retryNow();
    await reader.event('snapshot');
    proxy.cut();
    const again = await reader.state('waiting');
    expect(again).toMatchObject({ failures: 1 });
    expect(await reader.stop()).toBeUndefined();
    expect(reader.states.at(-1)).toEqual({ status: 'closed', fault: null });
    expect(reader.states.map(({ status }) => status).slice(0, 4)).toEqual([
      'connecting',
      'live',
      'waiting',
      'connecting',
    ]);
  });

  test('a silent connection is dropped', async () => {
    const clock = manualClock();
    const parlance = await reach({ clock, silenceMs: 45_000 });
    const session = parlance.session('silent');
    await session.create();
    const reader = new Reader((options) => session.events(options));
    await reader.event('snapshot');
    proxy.silence();
    await until(() => clock.waiting().includes(45_000));
    clock.advance(44_999);
    expect(reader.states.at(-1)?.status).toBe('live');
    clock.advance(1);
    expect((await reader.state('waiting')).fault.message).toBe('No data for 45 s.');
    await reader.stop();
  });

  test('is closed when the loop is left', async () => {
    const session = direct().session('left');
    await session.create();
    const states: string[] = [];
    for await (const event of session.events({ onState: ({ status }) => states.push(status) }))
      if (event.type === 'snapshot') break;
    expect(states).toEqual(['connecting', 'live', 'closed']);
  });

  test('is closed immediately if the signal is already aborted', async () => {
    const reader = new Reader((options) =>
      direct()
        .session('never')
        .events({ ...options, signal: AbortSignal.abort() }),
    );
    expect(await reader.ended).toBeUndefined();
    expect(reader.states).toEqual([{ status: 'closed', fault: null }]);
  });
});

describe('a position', () => {
  test('is sent on reconnect, so that history is not repeated', async () => {
    const asked: (string | null)[] = [];
    const parlance = await reach({
      fetch(url, init) {
        if (url.endsWith('/events')) asked.push(new Headers(init.headers).get('last-event-id'));
        return fetch(url, init);
      },
    });
    const session = parlance.session('asked');
    await session.create({ title: 'Asked' });
    const reader = new Reader((options) => session.events(options));
    await reader.event('snapshot');
    proxy.cut();
    await reader.event('snapshot');
    expect(asked).toEqual([null, '2']);
    await reader.stop();
  });

  test('is where the reader continues', async () => {
    const session = direct().session('cut-inside');
    const reader = new Reader((options) => session.events(options), 3);
    const { seq } = await reader.event('snapshot');
    expect(reader.seqs).toEqual(Array.from({ length: seq - 3 }, (_, index) => index + 4));
    await reader.stop();
  });

  test('that does not exist gets a reset and the whole session', async () => {
    const session = direct().session('reset');
    await session.create();
    const reader = new Reader((options) => session.events(options), 99);
    await reader.event('snapshot');
    expect(reader.events.map(({ type }) => type)).toEqual(['reset', 'session.created', 'snapshot']);
    const stale = { ...EMPTY, seq: 99, title: 'of another database' };
    expect(foldAll(stale, reader.events)).toMatchObject({ seq: 1, title: '' });
    await reader.stop();
  });
});

describe('a server that refuses', () => {
  test('ends the iteration with its code: 404 for an unknown session', async () => {
    const reader = new Reader((options) => direct().session('nowhere').events(options));
    expect(await reader.ended).toMatchObject({ name: 'ParlanceError', code: 'not_found', status: 404 });
    expect(reader.states.at(-1)).toMatchObject({ status: 'closed', fault: { code: 'not_found' } });
  });

  test('gives 401 for an invalid token and 400 for an invalid position', async () => {
    const stranger = connect({ url: server.http, token: 'nonsense' });
    const reader = new Reader((options) => stranger.session('reset').events(options));
    expect(await reader.ended).toMatchObject({ code: 'unauthenticated', status: 401 });
    const wrong = new Reader((options) =>
      direct()
        .session('reset')
        .events({ ...options, after: 0.5 }),
    );
    expect(await wrong.ended).toMatchObject({ code: 'invalid', status: 400 });
  });
});
