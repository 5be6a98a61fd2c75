import { describe, expect, test } from 'bun:test';
import { AppendConflict } from '../../core/ports/event-store.ts';
import { outcomeOf, recordOf, refOf, textEvents } from '../../testing/stores/contract/samples.ts';
import { type Append, type Appended, COMMAND, makeAppend } from './append.ts';
import { groupAppend, type QueueLimits } from './group-append.ts';

const appendTo = (id: string, expected = 0, text = 'text'): Append => {
  const ref = refOf('ada', id);
  const events = textEvents(ref, expected, 1).map((event) => ({ ...event, text }));
  return makeAppend({ expected, record: recordOf(ref, expected + 1), as: COMMAND }, events, {});
};
const idsOf = (group: readonly Append[]) =>
  group.map(({ ref, expected }) => `${ref.id}${expected}`).join(' ');
const WRITTEN: Appended = { written: true, row: 1, driver: null };

/** The test resolves the groups. */
function harness(limits?: QueueLimits) {
  const sent: { readonly ids: string; answer(answers: Appended[]): void; fail(reason: unknown): void }[] = [];
  const commits: number[] = [];
  const groups = groupAppend({
    write(group) {
      const { promise, resolve, reject } = Promise.withResolvers<Appended[]>();
      sent.push({ ids: idsOf(group), answer: resolve, fail: reject });
      return promise;
    },
    onCommit: (count) => commits.push(count),
    limits,
  });
  const tick = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  return { sent, commits, groups, tick };
}

describe('grouped appends', () => {
  test('that wait together are sent together, two groups at a time, while later ones are collected', async () => {
    const { sent, groups, tick, commits } = harness();
    const first = ['a', 'b', 'c'].map((id) => groups.add(appendTo(id)));
    await tick();
    void groups.add(appendTo('d'));
    await tick();
    void groups.add(appendTo('e'));
    void groups.add(appendTo('f'));
    await tick();
    expect(sent.map(({ ids }) => ids)).toEqual(['a0 b0 c0', 'd0']);
    sent[0]?.answer([WRITTEN, WRITTEN, WRITTEN]);
    await Promise.all(first);
    await tick();
    expect(sent.map(({ ids }) => ids)).toEqual(['a0 b0 c0', 'd0', 'e0 f0']);
    expect(commits).toEqual([3]);
  });

  test('to one session are sent sequentially, in order', async () => {
    const { sent, groups, tick } = harness();
    const appends = [0, 1, 2].map((expected) => groups.add(appendTo('a', expected)));
    const other = groups.add(appendTo('b'));
    for (const ids of ['a0 b0', 'a1', 'a2']) {
      await tick();
      expect(sent.at(-1)?.ids).toBe(ids);
      sent.at(-1)?.answer(ids.split(' ').map(() => WRITTEN));
    }
    await Promise.all([...appends, other]);
    expect(groups.inFlight()).toBeNull();
  });

  test('are refused individually, and fail together', async () => {
    const { sent, groups, tick, commits } = harness();
    const outcomes = ['a', 'b'].map((id) => outcomeOf(groups.add(appendTo(id))));
    await tick();
    sent[0]?.answer([{ written: false, reason: new AppendConflict(refOf('ada', 'a'), 0, 1) }, WRITTEN]);
    expect(await Promise.all(outcomes)).toEqual(['AppendConflict', 'written']);
    expect(commits).toEqual([1]);
    const failing = ['a', 'b'].map((id) => outcomeOf(groups.add(appendTo(id))));
    await tick();
    sent[1]?.fail(new TypeError('away'));
    expect(await Promise.all(failing)).toEqual(['TypeError', 'TypeError']);
    expect(groups.inFlight()).toBeNull();
  });

  test('are refused as overloaded if too many appends or bytes wait', async () => {
    const { groups } = harness({ writes: 3, characters: 1_000_000 });
    for (const id of ['a', 'b', 'c']) void groups.add(appendTo(id));
    expect(() => groups.add(appendTo('d'))).toThrow('cannot keep up');
    const large = harness({ writes: 3, characters: 10_000 });
    // Larger than the queue, but the only one in it.
    void large.groups.add(appendTo('a', 0, 'x'.repeat(20_000)));
    expect(() => large.groups.add(appendTo('b'))).toThrow('cannot keep up');
    await large.tick();
    void large.groups.add(appendTo('b'));
  });

  test('wait for exclusive work on their session, which waits for earlier appends', async () => {
    const { sent, groups, tick } = harness();
    const before = groups.add(appendTo('a'));
    const order: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const exclusive = groups.runExclusive(appendTo('a').key, async () => {
      order.push('exclusive');
      await promise;
    });
    await tick();
    expect(order).toEqual([]);
    sent[0]?.answer([WRITTEN]);
    await before;
    await tick();
    expect(order).toEqual(['exclusive']);
    // Readers do not wait for it, so that the work itself can read.
    expect([groups.inFlight(), groups.inFlight(appendTo('a').key)]).toEqual([null, null]);
    const after = groups.add(appendTo('a', 1));
    await tick();
    expect(sent.length).toBe(1);
    resolve();
    await exclusive;
    await tick();
    sent[1]?.answer([WRITTEN]);
    await after;
    await groups.flush();
  });
});
