/** Two engines write to one session, like two processes sharing a data folder. */
import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, textPart } from '@parlance/protocol';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, countingIds, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { AppendConflict } from '../ports/event-store.ts';
import { openMemoryBus } from './bus.ts';
import { Session } from './session.ts';

const inputs = (events: readonly DurableEvent[]) =>
  events.flatMap((event) => (event.type === 'input.accepted' ? event.parts : []));
const numbers = (events: readonly DurableEvent[]) => events.map(({ seq }) => seq);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describe('a session changed by another process', () => {
  test('is reloaded from its last event, watchers are notified, and the command is executed', async () => {
    const store = openMemoryStore();
    const first = await createHarness([says('One.'), says('Three.')], { store });
    const second = await createHarness([says('Two.')], { store });
    await say(first.engine, 'first');
    await first.engine.whenIdle(SESSION);
    await say(second.engine, 'second');
    await second.engine.whenIdle(SESSION);
    await say(first.engine, 'third');
    await first.engine.whenIdle(SESSION);

    const events = await store.read(SESSION, 0, 100);
    expect(inputs(events)).toEqual([textPart('first'), textPart('second'), textPart('third')]);
    expect(numbers(events)).toEqual(upTo(events.length));
    expect(first.events.filter(isDurable)).toEqual(events);
    expect((await first.engine.snapshot(SESSION)).seq).toBe(events.length);
    // The prompt includes messages sent through the other engine.
    expect(JSON.stringify(first.provider.prompts.at(-1)?.items)).toContain('Two.');
    const loaded = await Session.load(
      SESSION,
      {
        agent: first.engine.catalog.first(first.engine.catalog.defaultDomain),
        upTo: Number.POSITIVE_INFINITY,
      },
      {
        store,
        leases: store.leases,
        shared: false,
        bus: openMemoryBus(console),
        now: Date.now,
        newId: countingIds(),
        log: console,
      },
    );
    expect((await first.engine.snapshot(SESSION)).seq).toBe(loaded.state.seq);
  });

  test('stops if the other process cancels the turn, and records nothing more', async () => {
    const store = openMemoryStore();
    const first = await createHarness([calls('endless', {}), says('Next.')], { store });
    const started = first.nextEvent('tool.started');
    await say(first.engine, 'begin');
    await started;
    const second = await createHarness([], { store });
    const { turn } = await second.engine.snapshot(SESSION);
    expect(turn).not.toBeNull();
    await second.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    const cancelled = first.nextEvent('turn.cancelled');
    await say(first.engine, 'go on');
    await cancelled;
    await first.engine.whenIdle(SESSION);
    const events = await store.read(SESSION, 0, 100);
    expect(events.filter(({ type }) => type === 'turn.cancelled')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('turn.ended');
    expect(numbers(events)).toEqual(upTo(events.length));
    await second.engine.drain(0);
  });

  test('is written with exclusive access after three conflicts', async () => {
    const inner = openMemoryStore();
    let conflicts = 0;
    let rivals = 3;
    const rival = await createHarness(
      Array.from({ length: 10 }, () => says('Me.')),
      { store: inner },
    );
    const store: typeof inner = {
      ...inner,
      async append(expected, events, record) {
        if (rivals-- > 0) {
          await say(rival.engine, 'me first');
          await rival.engine.whenIdle(SESSION);
        }
        return inner.append(expected, events, record).catch((thrown: unknown) => {
          if (thrown instanceof AppendConflict) conflicts++;
          throw thrown;
        });
      },
    };
    const { engine } = await createHarness([says('At last.')], { store });
    await say(engine, 'now me');
    await engine.whenIdle(SESSION);
    expect(conflicts).toBe(3);
    const events = await inner.read(SESSION, 0, 1_000);
    expect(numbers(events)).toEqual(upTo(events.length));
    expect(inputs(events)).toEqual([...Array(3).fill(textPart('me first')), textPart('now me')]);
  });
});

describe('a session that did not exist', () => {
  test('is found at the next request if another process created it', async () => {
    const store = openMemoryStore();
    const first = await createHarness([], { store });
    expect((await first.engine.snapshot(SESSION)).seq).toBe(0);
    const second = await createHarness([says('Hello.')], { store });
    await say(second.engine, 'Hi');
    await second.engine.whenIdle(SESSION);
    const { seq } = await second.engine.snapshot(SESSION);
    expect((await first.engine.snapshot(SESSION)).seq).toBe(seq);
    expect(first.events.filter(isDurable)).toEqual(await store.read(SESSION, 0, 100));
  });
});

test('after a failed append the session matches the log, even if the events were written', async () => {
  const store = controlledStore();
  const inner = store.append;
  let lie = true;
  store.append = async (expected, durableEvents, record) => {
    const driver = await inner(expected, durableEvents, record);
    if (lie) throw new Error('the connection broke before the answer came');
    return driver;
  };
  const { engine, events } = await createHarness([says('Hello.'), says('Hello.')], { store });
  await expect(say(engine, 'Hi')).rejects.toThrow('the connection broke');
  lie = false;
  await say(engine, 'Again');
  await engine.whenIdle(SESSION);
  const durableEvents = await store.read(SESSION, 0, 100);
  expect(inputs(durableEvents)).toEqual([textPart('Hi'), textPart('Again')]);
  expect(numbers(durableEvents)).toEqual(upTo(durableEvents.length));
  expect(events.filter(isDurable)).toEqual(durableEvents);
});
