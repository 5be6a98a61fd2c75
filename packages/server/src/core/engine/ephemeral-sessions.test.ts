import { describe, expect, test } from 'bun:test';
import {
  type CallId,
  type DurableEventBody,
  type InputId,
  LOCAL,
  type SessionId,
  type TurnId,
} from '@parlance/protocol';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import type { SessionRef } from '../ports/event-store.ts';
import { openMemoryBus } from './bus.ts';
import { EphemeralSessions } from './ephemeral-sessions.ts';
import type { SessionSources } from './session.ts';
import { SessionCache } from './session-cache.ts';
import type { ObservedSession } from './snapshot.ts';

const IDLE_MS = 1_000;
const AGENT = { id: 'coder', name: 'Coder' };
const TURN = 'turn-1' as TurnId;
const ref = (id: string): SessionRef => ({ owner: LOCAL.id, id: id as SessionId });
const ignore = () => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const created = (ephemeral = true): DurableEventBody => ({
  type: 'session.created',
  dialect: 'native',
  named: true,
  domain: 'default',
  agent: AGENT,
  ...(ephemeral && { ephemeral: true as const }),
});
const turnStarted: DurableEventBody[] = [
  { type: 'input.accepted', input: 'input-1' as InputId, parts: [], dialect: 'native' },
  { type: 'turn.started', turn: TURN, input: 'input-1' as InputId, agent: AGENT },
];
const callDeferred: DurableEventBody[] = [
  { type: 'call.requested', turn: TURN, call: 'call-1' as CallId, tool: 'errand', input: {} },
  { type: 'call.deferred', turn: TURN, call: 'call-1' as CallId },
];

function harness({ alone = false, store = openMemoryStore() } = {}) {
  const clock = { at: 10_000, elapsed: 0 };
  const now = () => clock.at;
  let ids = 0;
  const newId = () => `id-${++ids}`;
  const bus = openMemoryBus<ObservedSession>(quiet);
  const sources: SessionSources = { store, bus, leases: store.leases, shared: false, now, newId, log: quiet };
  const sessions = new SessionCache(sources, AGENT, { sessions: 200, characters: 1_000_000 });
  const ephemeral = new EphemeralSessions(
    { store, sessions, now, clock: { ...SYSTEM_CLOCK, elapsed: () => clock.elapsed }, log: quiet },
    { idleMs: IDLE_MS, alone },
  );
  return {
    clock,
    sessions,
    ephemeral,
    store,
    create: (id: string, events: readonly DurableEventBody[]) =>
      sessions.use(ref(id), (session) => session.transact(() => events)),
    /** advances the clock and sweeps; returns the remaining sessions */
    async after(ms: number): Promise<string[]> {
      clock.at += ms;
      clock.elapsed += ms;
      await ephemeral.sweep();
      const page = await store.list({ ephemeral: 'included', limit: 100 });
      return page.sessions.map(({ ref: { id } }) => String(id)).sort();
    },
  };
}

describe('an ephemeral session', () => {
  test('is erased after the idle time; ordinary sessions are kept', async () => {
    const { create, after } = harness();
    await create('brief', [created()]);
    await create('kept', [created(false)]);
    expect(await after(0)).toEqual(['brief', 'kept']);
    expect(await after(IDLE_MS - 1)).toEqual(['brief', 'kept']);
    expect(await after(1)).toEqual(['kept']);
  });

  test('stays for the idle time on a node whose clock runs ahead, or is set', async () => {
    const { create, after, clock } = harness();
    await create('brief', [created()]);
    clock.at += 100 * IDLE_MS;
    expect(await after(0)).toEqual(['brief']);
    clock.at += 100 * IDLE_MS;
    expect(await after(IDLE_MS - 1)).toEqual(['brief']);
    expect(await after(1)).toEqual([]);
  });

  test('stays while its turn runs', async () => {
    const { create, after } = harness();
    await create('running', [created(), ...turnStarted]);
    expect(await after(0)).toEqual(['running']);
    expect(await after(100 * IDLE_MS)).toEqual(['running']);
  });

  test('is erased even if a client has left a call unanswered', async () => {
    const { create, after } = harness();
    await create('waiting', [created(), ...turnStarted, ...callDeferred]);
    expect(await after(0)).toEqual(['waiting']);
    expect(await after(IDLE_MS)).toEqual([]);
  });

  test('stays while it is watched, and for the idle time afterwards', async () => {
    const { create, after, sessions } = harness();
    await create('watched', [created()]);
    const stop = await sessions.use(ref('watched'), async ({ channel }) => channel.subscribe(ignore));
    expect(await after(0)).toEqual(['watched']);
    expect(await after(10 * IDLE_MS)).toEqual(['watched']);
    stop();
    expect(await after(IDLE_MS - 1)).toEqual(['watched']);
    expect(await after(1)).toEqual([]);
  });

  test('stays while it is requested', async () => {
    const { create, after, sessions } = harness();
    await create('polled', [created()]);
    for (let time = 0; time < 5; time++) {
      await sessions.use(ref('polled'), async () => undefined);
      expect(await after(IDLE_MS)).toEqual(['polled']);
    }
    expect(await after(IDLE_MS)).toEqual([]);
  });

  test('is not erased during a command, and its subscribers receive the end', async () => {
    const { create, sessions, store } = harness();
    await create('busy', [created()]);
    const command = Promise.withResolvers<void>();
    const working = sessions.use(ref('busy'), () => command.promise);
    expect(await sessions.eraseUnused(ref('busy'), 'server', () => true)).toBe(false);
    command.resolve();
    await working;
    expect(await sessions.eraseUnused(ref('busy'), 'server', () => false)).toBe(false);
    expect(await sessions.eraseUnused(ref('busy'), 'server', () => true)).toBe(true);
    expect(await store.load(ref('busy'))).toBeNull();
  });

  test('that cannot be erased does not block the others', async () => {
    const memory = openMemoryStore();
    const broken = async (given: SessionRef) => {
      if (given.id === 'stuck') throw new Error('the disk is full');
      return memory.erase(given);
    };
    const { create, after } = harness({ store: { ...memory, erase: broken } });
    for (const id of ['a', 'stuck', 'z']) await create(id, [created()]);
    await after(0);
    expect(await after(IDLE_MS)).toEqual(['stuck']);
  });
});

describe('at startup', () => {
  const left: [string, DurableEventBody[]][] = [
    ['idle', [created()]],
    ['waiting', [created(), ...turnStarted, ...callDeferred]],
    ['running', [created(), ...turnStarted]],
    ['kept', [created(false)]],
  ];

  test.each([
    [true, ['kept', 'running', 'waiting']],
    [false, ['idle', 'kept', 'running', 'waiting']],
  ])(
    'erases idle sessions of an earlier process: %p, if no other process uses the store',
    async (alone, stays) => {
      const before = harness();
      for (const [id, events] of left) await before.create(id, events);
      const { ephemeral, store } = harness({ alone, store: before.store });
      await ephemeral.start();
      await ephemeral.stop();
      const { sessions } = await store.list({ ephemeral: 'included', limit: 100 });
      expect(sessions.map(({ ref: { id } }) => String(id)).sort()).toEqual(stays);
    },
  );
});
