/** Capabilities that are not used cost no call of the store: neither at the start, nor per turn, step or token. */
import { expect, test } from 'bun:test';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, scriptedProvider, USAGE } from '../../testing/scripted-provider.ts';
import { openMemoryStore } from '../../testing/stores/memory/store.ts';
import type { Provider } from '../ports/provider.ts';

type Counts = Record<string, number>;

/** The object, whose calls are counted by name. */
const counted = <Target extends object>(target: Target, prefix: string, counts: Counts): Target =>
  new Proxy(target, {
    get(from, name) {
      const value: unknown = Reflect.get(from, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const called = `${prefix}${String(name)}`;
        counts[called] = (counts[called] ?? 0) + 1;
        return value.apply(from, given);
      };
    },
  });

/** A turn of two steps, the second with that many tokens: the calls at the start and in the turn. */
async function storeCalls(tokens: number): Promise<{ atStart: Counts; inTurn: Counts }> {
  const memory = openMemoryStore();
  let counts: Counts = {};
  const record: Counts = new Proxy(
    {},
    { get: (_, name) => counts[String(name)], set: (_, name, value) => Reflect.set(counts, name, value) },
  );
  const store = counted(memory, '', record);
  const first = scriptedProvider([calls('lookup', { word: 'a' })]);
  let isFirst = true;
  const provider: Provider = {
    ...first,
    contextLimit: 1_000_000,
    async *stream(prompt, signal, take) {
      if (isFirst) {
        isFirst = false;
        return yield* first.stream(prompt, signal);
      }
      for (let token = 0; token < tokens; token++)
        if (!take?.('text', 'word ')) yield { type: 'text', text: 'word ' };
      yield { type: 'ended', usage: USAGE, stop: 'done' };
    },
  };
  const usage = counted(memory.usage, 'usage.', record);
  const harness = await createHarness([], {
    store,
    parts: { provider, usage, spendLimits: () => [], subAgents: 0 },
  });
  await harness.engine.recover();
  await harness.engine.send(SESSION, { type: 'session.create' }, CALLER);
  await harness.engine.whenIdle(SESSION);
  const atStart = counts;
  counts = {};
  await say(harness.engine, 'Go');
  await harness.engine.whenIdle(SESSION);
  return { atStart, inTurn: counts };
}

test('a turn without limits, fallback, sub-agents, instructions and rewind appends its events, and reads nothing', async () => {
  const { atStart, inTurn } = await storeCalls(10);
  const stores = (counts: Counts) =>
    Object.keys(counts)
      .filter((name) => name !== 'append')
      .sort();
  // The input, the start of the call with the end of its step, its result, and the last step with the end of the turn.
  expect(inTurn.append).toBe(4);
  expect(stores(inTurn)).toEqual([]);
  // Usage is always counted; what is too old is deleted at the start.
  expect(stores(atStart).filter((name) => name.startsWith('usage'))).toEqual(['usage.prune']);
});

test('the calls are the same for a hundred times as many tokens', async () => {
  expect((await storeCalls(1_000)).inTurn).toEqual((await storeCalls(10)).inTurn);
});
