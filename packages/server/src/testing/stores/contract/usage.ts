import { expect, test } from 'bun:test';
import type { UsageEntry } from '../../../core/ports/event-store.ts';
import { recordOf, refOf, textEvents } from './samples.ts';
import { type Implementation, withStore } from './store-location.ts';

const entry = (more: Partial<UsageEntry> = {}): UsageEntry => ({
  day: '2026-01-31',
  owner: 'ada',
  agent: 'assistant',
  apiKey: '',
  model: 'gpt-5',
  task: 'chat',
  calls: 1,
  inputTokens: 10,
  cachedTokens: 4,
  outputTokens: 5,
  reasoningTokens: 2,
  cost: 7,
  unpriced: 0,
  estimated: 0,
  ...more,
});

const COUNTS = {
  calls: 1,
  inputTokens: 10,
  cachedTokens: 4,
  outputTokens: 5,
  reasoningTokens: 2,
  cost: 7,
  unpriced: 0,
  estimated: 0,
};

export function usageContract(implementation: Implementation): void {
  test('an append counts its model calls, and one that is refused counts nothing', () =>
    withStore(implementation, async (store) => {
      const ref = refOf('ada', 'one');
      const usage = [entry(), entry({ task: 'title', cost: 1 })];
      await store.append(0, textEvents(ref, 0, 1), { ...recordOf(ref, 1), usage });
      const again = store.append(0, textEvents(ref, 0, 1), { ...recordOf(ref, 1), usage });
      expect(await again.then(() => 'written').catch(() => 'refused')).toBe('refused');
      await store.append(1, textEvents(ref, 1, 1), { ...recordOf(ref, 2), usage: [entry()] });
      await store.append(2, textEvents(ref, 2, 1), recordOf(ref, 3));
      expect(await store.usage.spent({ owner: 'ada' })).toEqual({ tokens: 45, cost: 15 });
      expect(await store.usage.report({ owner: 'ada' }, ['task'], 10)).toEqual([
        {
          task: 'chat',
          ...COUNTS,
          calls: 2,
          inputTokens: 20,
          cachedTokens: 8,
          outputTokens: 10,
          reasoningTokens: 4,
          cost: 14,
        },
        { task: 'title', ...COUNTS, cost: 1 },
      ]);
      expect(await store.load(ref)).not.toHaveProperty('usage');
      await store.erase(ref);
      expect(await store.usage.spent({ owner: 'ada' })).toEqual({ tokens: 45, cost: 15 });
    }));

  test('appends of many sessions at once are all counted', () =>
    withStore(implementation, async (store) => {
      const refs = Array.from({ length: 40 }, (_, index) => refOf('ada', `session ${index}`));
      await Promise.all(
        refs.map((ref, index) =>
          store.append(0, textEvents(ref, 0, 1), {
            ...recordOf(ref, 1),
            usage: [entry(), entry({ owner: index % 2 ? 'bob' : 'ada', model: `m${index % 3}` })],
          }),
        ),
      );
      expect(await store.usage.spent({})).toEqual({ tokens: 80 * 15, cost: 80 * 7 });
      expect(await store.usage.spent({ owner: 'bob' })).toEqual({ tokens: 20 * 15, cost: 20 * 7 });
    }));

  test('reports are sums by the labels, within the filter and the limit', () =>
    withStore(implementation, async (store) => {
      await store.usage.add([
        entry(),
        entry({ day: '2026-02-01', apiKey: 'key-1' }),
        entry({ day: '2026-02-02', owner: 'bob', model: 'other', unpriced: 1, cost: 0 }),
        entry({ day: '2026-02-02', agent: 'coder' }),
      ]);
      const days = async (filter: object) =>
        (await store.usage.report(filter, ['day', 'owner'], 10)).map(({ day, owner, calls }) => [
          day,
          owner,
          calls,
        ]);
      expect(await days({})).toEqual([
        ['2026-01-31', 'ada', 1],
        ['2026-02-01', 'ada', 1],
        ['2026-02-02', 'ada', 1],
        ['2026-02-02', 'bob', 1],
      ]);
      expect(await days({ from: '2026-02-01', to: '2026-02-01' })).toEqual([['2026-02-01', 'ada', 1]]);
      expect(await days({ agent: 'coder' })).toEqual([['2026-02-02', 'ada', 1]]);
      expect(await days({ apiKey: 'key-1' })).toEqual([['2026-02-01', 'ada', 1]]);
      expect(await days({ model: "' OR 1=1 --" })).toEqual([]);
      expect(await store.usage.report({}, ['day'], 2)).toHaveLength(2);
      expect(await store.usage.report({ owner: 'nobody' }, [], 5)).toEqual([
        {
          calls: 0,
          inputTokens: 0,
          cachedTokens: 0,
          outputTokens: 0,
          reasoningTokens: 0,
          cost: 0,
          unpriced: 0,
          estimated: 0,
        },
      ]);
      await store.usage.prune('2026-02-01');
      expect(await days({ owner: 'ada' })).toEqual([
        ['2026-02-01', 'ada', 1],
        ['2026-02-02', 'ada', 1],
      ]);
    }));

  test('sums of enormous counts stay numbers, and do not refuse an append', () =>
    withStore(implementation, async (store) => {
      const huge = entry({ inputTokens: 1e15, cost: 1e15, model: 'm\0del' });
      const ref = refOf('ada', 'one');
      for (let seq = 0; seq < 12; seq++)
        await store.append(seq, textEvents(ref, seq, 1), { ...recordOf(ref, seq + 1), usage: [huge, huge] });
      const { tokens, cost } = await store.usage.spent({ owner: 'ada' });
      expect(tokens).toBeGreaterThanOrEqual(1e15);
      expect(cost).toBeLessThan(Number.MAX_SAFE_INTEGER * 4);
    }));

  test('one claims a name, whoever asks later', () =>
    withStore(implementation, async (store) => {
      const asked = await Promise.all(
        ['one', 'two', 'three'].map((by) => store.usage.claim('name', '2026-01-31', by)),
      );
      expect(new Set(asked).size).toBe(1);
      expect(await store.usage.claim('name', '2026-01-31', 'four')).toBe(asked[0] ?? '');
      expect(await store.usage.claim('other', '2026-02-01', 'four')).toBe('four');
      await store.usage.prune('2026-02-01');
      expect(await store.usage.claim('name', '2026-02-01', 'five')).toBe('five');
    }));
}
