import { expect, test } from 'bun:test';
import { type ApprovalId, LOCAL, type SessionId, textPart } from '@parlance/protocol';
import { CALLER, createHarness, type Harness } from '../../testing/harness.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import { ticks } from '../../testing/ticks.ts';
import type { SessionRef } from '../index.ts';
import type { SessionStore } from '../ports/event-store.ts';
import { NO_METER } from '../ports/telemetry.ts';

const HANG: Line[] = [{ type: 'text', text: 'Half ' }, { type: 'hang' }];
const ref = (index: number): SessionRef => ({ owner: LOCAL.id, id: `s${index}` as SessionId });
const submit = (engine: Harness['engine'], index: number, text: string) =>
  engine.send(ref(index), { type: 'input.submit', parts: [textPart(text)] }, CALLER);

test('unused sessions are evicted, and nothing is lost', async () => {
  const store = openMemoryStore();
  const { engine, provider } = await createHarness([], { store, parts: { cachedSessions: 3 } });
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await submit(engine, index, `Round ${round}`);
        await engine.whenIdle(ref(index));
      }),
    );
  }
  for (let index = 0; index < 20; index++) {
    const events = await store.read(ref(index), 0, 1_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.filter((event) => event.type === 'turn.ended')).toHaveLength(3);
  }
  const last = provider.prompts.at(-1)?.items.filter(({ kind }) => kind === 'user');
  expect(last).toHaveLength(3);
});

test('sessions stay while they are watched, driven or requested, however many others are loaded', async () => {
  const { engine, provider } = await createHarness([HANG], { parts: { cachedSessions: 1 } });
  const seen: string[] = [];
  await engine.watch(ref(0), (event) => seen.push(event.type));
  await submit(engine, 0, 'Hi');
  await provider.hanging;
  for (let index = 1; index < 10; index++) {
    await submit(engine, index, 'Hi');
    await engine.whenIdle(ref(index));
  }
  await engine.send(ref(0), { type: 'turn.cancel' }, CALLER);
  expect(seen).toContain('turn.cancelled');
  expect((await engine.record(ref(0)))?.status).toBe('idle');
});

test('a session with a pending approval can be evicted, and is loaded again for the answer', async () => {
  const { engine } = await createHarness([calls('shell', { command: ['ls'] })], {
    parts: { cachedSessions: 1 },
  });
  await submit(engine, 0, 'Run ls');
  await engine.whenIdle(ref(0));
  for (let index = 1; index < 5; index++) {
    await submit(engine, index, 'Hi');
    await engine.whenIdle(ref(index));
  }
  const {
    waiting: [waiting],
  } = await engine.approvals(LOCAL, { limit: 10 });
  await engine.answer(waiting?.approval?.approval as ApprovalId, { answer: 'once' }, CALLER);
  await engine.whenIdle(ref(0));
  const types = (await engine.events(ref(0), 0, 100)).map(({ type }) => type);
  expect(types).not.toContain('turn.resumed');
  expect(types.at(-1)).toBe('turn.ended');
});

test('a session is loaded once for concurrent requests, and can be evicted in between', async () => {
  const inner = openMemoryStore();
  const store: SessionStore = {
    ...inner,
    load: async (given) => {
      const record = await inner.load(given);
      await ticks(given.id.length * 3);
      return record;
    },
  };
  const { engine } = await createHarness([], { store, parts: { cachedSessions: 1 } });
  const work = Array.from({ length: 200 }, (_, index) => submit(engine, (index * 7) % 5, `Input ${index}`));
  await Promise.all(work);
  for (let index = 0; index < 5; index++) {
    await engine.whenIdle(ref(index));
    const events = await inner.read(ref(index), 0, 1_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.filter(({ type }) => type === 'turn.ended')).toHaveLength(40);
  }
});

test('a session that failed to load is loaded again by the next request', async () => {
  const inner = openMemoryStore();
  let broken = true;
  const store: SessionStore = {
    ...inner,
    load: async (given) => {
      if (broken && given.id === 's1') throw new Error('the disk is gone');
      return inner.load(given);
    },
  };
  const { engine } = await createHarness([], { store });
  await expect(submit(engine, 1, 'Hi')).rejects.toThrow('the disk is gone');
  broken = false;
  await submit(engine, 1, 'Hi');
  await engine.whenIdle(ref(1));
  expect((await engine.record(ref(1)))?.status).toBe('idle');
});

test('large unused sessions are evicted by their size, and are read again', async () => {
  const answers = Array.from({ length: 6 }, () => says('x'.repeat(1_000)));
  const gauges = new Map<string, () => unknown>();
  const meter = { ...NO_METER, gauge: (name: string, read: () => unknown) => void gauges.set(name, read) };
  const parts = { cachedCharacters: 2_500, meter: meter as typeof NO_METER };
  const { engine, provider } = await createHarness(answers, { parts });
  for (let index = 0; index < 5; index++) {
    await submit(engine, index, 'Hi');
    await engine.whenIdle(ref(index));
  }
  // The session of the harness is watched, and stays.
  expect(gauges.get('sessions_in_memory')?.()).toBeLessThanOrEqual(4);
  await submit(engine, 0, 'Again');
  await engine.whenIdle(ref(0));
  const kinds = provider.prompts.map(({ items }) => items.map(({ kind }) => kind));
  expect(kinds).toContainEqual(['user', 'text', 'user']);
});
