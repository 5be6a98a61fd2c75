/// <reference path="../../../../server/src/telemetry/prom-client.d.ts" />
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ActivityEvent, connect, type Parlance } from '@parlance/sdk';
import { startTestServer, type TestServer } from '../../../../server/src/testing/server.ts';
import { alignedRows } from '../../entries/rows.ts';
import { isRunning, type Timeline, TimelineFeed } from './feed.ts';

let server: TestServer;
let parlance: Parlance;
beforeAll(async () => {
  server = await startTestServer();
  parlance = connect({ url: `http://127.0.0.1:${server.running.port}` });
  void listen();
});
afterAll(async () => {
  page.abort();
  await server.stop();
});

/** One activity stream, as in the page. */
const page = new AbortController();
const heard = new Set<(event: ActivityEvent) => void>();
async function listen(): Promise<void> {
  for await (const event of parlance.activity({ signal: page.signal }))
    for (const listener of [...heard]) listener(event);
}
const feedOf = (id: string): TimelineFeed =>
  new TimelineFeed(parlance.session(id), (listener) => {
    heard.add(listener);
    return () => heard.delete(listener);
  });

/** Resolves when the timeline matches. */
function until(feed: TimelineFeed, wanted: (timeline: Timeline) => boolean): Promise<Timeline> {
  return new Promise((resolve) => {
    const check = () => {
      if (!wanted(feed.get())) return;
      stop();
      resolve(feed.get());
    };
    const stop = feed.subscribe(check);
    check();
  });
}

const ended = (turns: number) => (timeline: Timeline) =>
  timeline.events.filter(({ type }) => type === 'turn.ended').length >= turns;

const said = (text: string) => ({
  id: 'm1',
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
});

async function watched(id: string) {
  await parlance.session(id).create();
  const client = await server.connect(`/agentloop?session=${id}`);
  const feed = feedOf(id);
  await until(feed, ({ since, reading }) => since !== null && !reading);
  return { client, feed };
}

describe('the timeline feed', () => {
  test('has every event from the beginning', async () => {
    const session = parlance.session('past');
    await session.submit('Hello');
    for await (const event of session.events()) if (event.type === 'turn.ended') break;
    const feed = feedOf('past');
    const { events } = await until(feed, ({ reading }) => !reading);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events[0]?.type).toBe('session.created');
    expect(events.at(-1)?.type).toBe('turn.ended');
    feed.close();
  });

  test('shows inbound and outbound frames beside their events', async () => {
    const { client, feed } = await watched('both-ways');
    expect(feed.get().attached).toMatchObject({ agentloop: 1 });
    client.send(said('Hello'));
    const timeline = await until(
      feed,
      (now) => ended(1)(now) && now.frames.some(({ text }) => text.includes('agent_finished')),
    );
    expect(timeline.frames[0]).toMatchObject({ dialect: 'agentloop', direction: 'in', number: 1 });
    expect(JSON.parse(timeline.frames[0]?.text ?? '')).toEqual(said('Hello'));
    const rows = alignedRows(timeline.events, timeline.frames);
    const first = rows.findIndex(({ frame }) => frame?.number === 1);
    const accepted = rows.findIndex(({ event }) => event?.type === 'input.accepted');
    expect(first).toBeLessThanOrEqual(accepted);
    feed.close();
  });

  test('paused, it stands still and counts; resumed, it has everything', async () => {
    const { client, feed } = await watched('paused');
    feed.pause(true);
    const before = feed.get();
    client.send(said('Hello'));
    const paused = await until(feed, ({ waiting }) => waiting.events > 4 && waiting.frames > 2);
    expect(paused.events).toBe(before.events);
    expect(paused.frames).toBe(before.frames);
    feed.pause(false);
    const resumed = await until(feed, ended(1));
    expect(resumed.frames[0]?.direction).toBe('in');
    expect(resumed.waiting).toEqual({ events: 0, frames: 0 });
    feed.clearFrames();
    expect(feed.get().events).toBe(resumed.events);
    expect(feed.get().frames.some(({ number }) => number === 1)).toBe(false);
    feed.close();
  });

  test('reports a session that does not exist', async () => {
    const feed = feedOf('nowhere');
    const { fault } = await until(feed, ({ fault }) => fault !== null);
    expect(fault?.code).toBe('not_found');
    feed.close();
  });

  test('reports that the session was deleted', async () => {
    const { feed } = await watched('deleted');
    await parlance.session('deleted').erase();
    const { events } = await until(feed, ({ erased }) => erased);
    expect(events).toEqual([]);
    await parlance.session('deleted').submit('Hello');
    const again = await until(feed, ended(1));
    expect([again.erased, again.events[0]?.seq]).toEqual([false, 1]);
    feed.close();
  });

  test('shows clients that attach and detach', async () => {
    const { client, feed } = await watched('visited');
    const second = await server.connect('/broadcast');
    await until(feed, ({ attached }) => attached.broadcast === 1);
    client.close();
    await until(feed, ({ attached }) => attached.agentloop === undefined);
    second.close();
    await until(feed, ({ attached }) => attached.broadcast === undefined);
    feed.close();
  });
});

test('a turn runs from its start until it has ended, however it ends', async () => {
  await parlance.session('running').submit('count to 3');
  const feed = feedOf('running');
  const { events } = await until(feed, (timeline) =>
    timeline.events.some(({ type }) => type === 'turn.ended'),
  );
  feed.close();
  const upTo = (type: string) => events.slice(0, events.findIndex((event) => event.type === type) + 1);
  expect(isRunning([])).toBe(false);
  expect(isRunning(upTo('input.accepted'))).toBe(false);
  expect(isRunning(upTo('turn.started'))).toBe(true);
  expect(isRunning(upTo('text.ended'))).toBe(true);
  expect(isRunning(upTo('turn.ended'))).toBe(false);
});
