import { describe, expect, test } from 'bun:test';
import { type ApprovalId, LOCAL, type SessionId, textPart } from '@parlance/protocol';
import { CALLER, createHarness, type Harness, SESSION, say } from '../../testing/harness.ts';
import { calls, says } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import type { SessionRecord, SessionRef, SessionStore } from '../ports/event-store.ts';

const ask = calls('shell', { command: ['ls'] });
const refOf = (id: string): SessionRef => ({ owner: LOCAL.id, id: id as SessionId });

/** Counts the records and events read from a store. */
function counted(store: SessionStore): { store: SessionStore; rows: () => number } {
  let rows = 0;
  const passed = <Value>(value: Value, count: number): Value => {
    rows += count;
    return value;
  };
  return {
    rows: () => rows,
    store: {
      ...store,
      load: async (ref) => passed(await store.load(ref), 1),
      lookup: async (key, within) => passed(await store.lookup(key, within), 1),
      findById: async (id) => {
        const found = await store.findById(id);
        return passed(found, found.length);
      },
      list: async (query) => {
        const page = await store.list(query);
        return passed(page, page.sessions.length);
      },
      read: async (ref, after, limit) => {
        const events = await store.read(ref, after, limit);
        return passed(events, events.length);
      },
    },
  };
}

/** A store with one session that waits for approval, and many idle, failed or deferred ones. */
async function crowded(others: number): Promise<{ store: SessionStore; approval: ApprovalId }> {
  const store = openMemoryStore();
  const harness = await createHarness([ask], { store });
  await say(harness.engine, 'Run ls');
  await harness.engine.whenIdle(SESSION);
  const record = await store.load(SESSION);
  const [created] = await store.read(SESSION, 0, 1);
  const approval = record?.pending as ApprovalId | undefined;
  if (!record || !created || !approval) throw new Error('nothing waits');
  for (let index = 0; index < others; index++) {
    const ref = refOf(`other-${index}`);
    const status = (['idle', 'failed', 'waiting'] as const)[index % 3] ?? 'idle';
    const other: SessionRecord = { ...record, ref, status, pending: null, head: 1, checkpoint: null };
    await store.append(0, [{ ...created, session: ref.id }], other);
  }
  return { store, approval };
}

/** The number of rows that each step of a new process reads. */
async function rowsRead(others: number): Promise<Record<string, number>> {
  const { store: kept, approval } = await crowded(others);
  const { store, rows } = counted(kept);
  const { engine }: Harness = await createHarness([says('Done.')], { store });
  const read = async (work: () => Promise<unknown>) => {
    const before = rows();
    await work();
    return rows() - before;
  };
  const answer = () => engine.answer(approval, { answer: 'once' }, CALLER);
  const start = await read(() => engine.recover());
  const approvals = await read(() => engine.approvals(LOCAL, { limit: 50 }));
  const answered = await read(answer);
  await engine.whenIdle(SESSION);
  const late = await read(async () => {
    await expect(answer()).rejects.toMatchObject({ code: 'no_approval' });
  });
  return { start, approvals, answered, late };
}

test('startup, listing and answering approvals read as many rows with 1,000 sessions as with 10', async () => {
  const few = await rowsRead(10);
  expect(await rowsRead(1_000)).toEqual(few);
  expect(few).toEqual({ start: 0, approvals: 1, answered: 1, late: 2 });
});

test('approvals are listed page by page, the most recently changed session first', async () => {
  const { engine } = await createHarness([ask, ask, ask]);
  const refs = ['first', 'second', 'third'].map(refOf);
  for (const ref of refs) {
    const parts = [textPart('Run ls')];
    await engine.send(ref, { type: 'input.submit', parts, mode: 'queue' }, CALLER);
    await engine.whenIdle(ref);
  }
  const first = await engine.approvals(LOCAL, { limit: 2 });
  expect(first.waiting.map(({ ref }) => String(ref.id))).toEqual(['third', 'second']);
  const second = await engine.approvals(LOCAL, { limit: 2, cursor: first.next ?? '' });
  expect(second.waiting.map(({ ref }) => String(ref.id))).toEqual(['first']);
  expect(second.next).toBeNull();
});

describe('an answered approval is known', () => {
  const REPEATED = 260;

  test('after a restart, however many approvals followed', async () => {
    const store = openMemoryStore();
    const before = await createHarness([...Array.from({ length: REPEATED }, () => ask), says('Done.')], {
      store,
      parts: { maxSteps: REPEATED + 2 },
    });
    await say(before.engine, 'Run ls many times');
    const approvals: ApprovalId[] = [];
    for (let index = 0; index < REPEATED; index++) {
      await before.engine.whenIdle(SESSION);
      const approval = (await before.engine.snapshot(SESSION)).approval?.approval;
      if (!approval) throw new Error(`approval ${index} did not come`);
      approvals.push(approval);
      await before.engine.send(SESSION, { type: 'approval.answer', answer: 'once' }, CALLER);
    }
    await before.engine.whenIdle(SESSION);

    const { engine } = await createHarness([], { store });
    for (const approval of [approvals.at(0), approvals.at(-1)]) {
      if (!approval) throw new Error('nothing was asked');
      expect(await engine.lookup(LOCAL, { kind: 'approval', id: approval })).toEqual(SESSION);
      const late = engine.send(SESSION, { type: 'approval.answer', approval, answer: 'once' }, CALLER);
      await expect(late).rejects.toMatchObject({ code: 'no_approval' });
    }
  });

  test('a turn is found by its id, running or ended, by its owner and by an admin', async () => {
    const { engine, nextEvent } = await createHarness([says('Done.')]);
    const started = nextEvent('turn.started');
    await say(engine, 'Go');
    const { turn } = await started;
    const key = { kind: 'turn', id: turn } as const;
    expect(await engine.lookup(LOCAL, key)).toEqual(SESSION);
    await engine.whenIdle(SESSION);
    expect(await engine.lookup(LOCAL, key)).toEqual(SESSION);
    const stranger = { ...LOCAL, id: 'stranger' as typeof LOCAL.id, role: 'user' as const };
    expect(await engine.lookup(stranger, key)).toBeNull();
    expect(await engine.lookup({ ...stranger, role: 'admin' }, key)).toEqual(SESSION);
  });
});
