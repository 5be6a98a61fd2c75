import { expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type SessionEvent } from '@parlance/protocol';
import { createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { delayed, quiet, ticks } from '../../testing/ticks.ts';
import type { SessionSnapshot, Sink } from '../index.ts';

const think = (text: string): Line => ({ type: 'reasoning', text });
const tell = (text: string): Line => ({ type: 'text', text });
const SCRIPT = [
  calls(
    'lookup',
    { word: 'a' },
    { before: [think('They '), think('ask.'), tell('Let '), tell('me '), tell('look.')] },
  ),
  says('It ', 'is ', 'a ', 'word.'),
];

const DURABLE = [
  'session.created',
  'input.accepted',
  'turn.started',
  'reasoning.ended',
  'text.ended',
  'call.requested',
  'step.ended',
  'tool.started',
  'tool.ended',
  'text.ended',
  'step.ended',
  'turn.ended',
];

/** What a watcher received, after which event, and its snapshot at the start. */
type Watched = { after: number | 'now'; events: SessionEvent[]; before: number; snapshot: SessionSnapshot };

/**
 * Plays the script and lets a watcher join after `moment` ticks, optionally after reading the stored events.
 * Null if the turn had ended by then.
 */
async function joinAt(
  moment: number,
  from: number | 'now' | 'stored',
  delays: [number, number],
): Promise<Watched | null> {
  const store = delayed(openMemoryStore(), ...delays);
  const { engine, nextEvent } = await createHarness(SCRIPT, { store });
  let over = false;
  const ended = nextEvent('turn.ended').then(() => {
    over = true;
  });
  const sent = say(engine, 'What is a?');
  await ticks(moment);
  if (over) return null;
  const after = from === 'stored' ? (await engine.events(SESSION, 0, 100)).length : from;
  const events: SessionEvent[] = [];
  let watched: Watched | null = null;
  const sink: Sink = (event) => events.push(structuredClone(event));
  const watching = engine.watch(SESSION, sink, {
    after,
    begin: (watch) => {
      watched = { after, events, before: events.length, snapshot: watch.snapshot() };
    },
  });
  await Promise.all([sent, watching, ended]);
  await quiet();
  return watched;
}

function check({ events, before, snapshot }: Watched, from: number): void {
  const durableEvents = events.filter(isDurable);
  expect(durableEvents.map(({ seq }) => seq)).toEqual(
    DURABLE.slice(from).map((_, index) => from + index + 1),
  );
  expect(durableEvents.map(({ type }) => type)).toEqual(DURABLE.slice(from) as DurableEvent['type'][]);
  expect(events.slice(0, before).every(isDurable)).toBe(true);
  const texts = new Map<string, string>();
  if (snapshot.open) texts.set(snapshot.open.block, snapshot.open.text);
  for (const event of events.slice(before)) {
    if (event.type === 'text.delta' || event.type === 'reasoning.delta')
      texts.set(event.block, (texts.get(event.block) ?? '') + event.text);
    if (event.type === 'text.ended' || event.type === 'reasoning.ended')
      expect(texts.get(event.block)).toBe(event.text);
  }
}

const DELAYS: [number, number][] = [
  [0, 0],
  [5, 0],
  [0, 5],
  [20, 3],
  [3, 20],
];

for (const delays of DELAYS) {
  test(`a watcher from the beginning receives every event once and every block whole, whenever it joins (${delays})`, async () => {
    let joined = 0;
    for (let moment = 0; ; moment++) {
      const watched = await joinAt(moment, 0, delays);
      if (!watched) break;
      check(watched, 0);
      joined++;
    }
    expect(joined).toBeGreaterThan(40);
  });

  test(`a watcher that has read the history receives all later events once, whenever it joins (${delays})`, async () => {
    let ahead = 0;
    for (let moment = 0; ; moment++) {
      const watched = await joinAt(moment, 'stored', delays);
      if (!watched) break;
      check(watched, Number(watched.after));
      if (watched.after !== 0) ahead++;
    }
    expect(ahead).toBeGreaterThan(40);
  });

  test(`a watcher without history receives every event after its snapshot, whenever it joins (${delays})`, async () => {
    for (let moment = 0; ; moment++) {
      const watched = await joinAt(moment, 'now', delays);
      if (!watched) break;
      expect(watched.before).toBe(0);
      check(watched, watched.snapshot.seq);
    }
  });
}

test('a watcher that reconnects receives missed events once', async () => {
  for (let cursor = 0; cursor <= DURABLE.length; cursor++) {
    const { engine, nextEvent } = await createHarness(SCRIPT);
    const ended = nextEvent('turn.ended');
    await say(engine, 'What is a?');
    await ended;
    const seen: number[] = [];
    const sink: Sink = (event) => {
      if (isDurable(event)) seen.push(event.seq);
    };
    const watch = await engine.watch(SESSION, sink, { after: cursor });
    expect(seen).toEqual(DURABLE.slice(cursor).map((_, index) => cursor + index + 1));
    watch.stop();
  }
});

test('a watcher that disconnects mid-turn cancels nothing', async () => {
  const { engine, nextEvent, events } = await createHarness(SCRIPT);
  const watch = await engine.watch(SESSION, () => undefined, { after: 0 });
  const delta = nextEvent('text.delta');
  const ended = nextEvent('turn.ended');
  await say(engine, 'What is a?');
  await delta;
  watch.stop();
  await ended;
  expect(events.filter(isDurable).map(({ type }) => type)).toEqual(DURABLE as DurableEvent['type'][]);
});

test('a watcher that throws affects neither other watchers nor the session', async () => {
  const errors: string[] = [];
  const ignore = () => undefined;
  const log = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_: object, message: string) => errors.push(message),
  };
  const { engine, nextEvent, events } = await createHarness(SCRIPT, { parts: { log } });
  await engine.watch(SESSION, () => {
    throw new Error('a bug in a projection');
  });
  const ended = nextEvent('turn.ended');
  await say(engine, 'What is a?');
  await ended;
  expect(events.filter(isDurable)).toHaveLength(DURABLE.length);
  expect(new Set(errors)).toEqual(new Set(['subscriber failed']));
  await say(engine, 'And again?');
});

test('a watcher of an owner receives events of all its sessions and of no other owner', async () => {
  const { engine } = await createHarness(SCRIPT);
  const received: string[] = [];
  const stop = engine.watchOwner(SESSION.owner, (event) => received.push(event.session));
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(new Set(received)).toEqual(new Set([SESSION.id]));
  const count = received.length;
  stop();
  await say(engine, 'Hi');
  await engine.whenIdle(SESSION);
  expect(received).toHaveLength(count);
});
