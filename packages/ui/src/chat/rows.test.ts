import { expect, test } from 'bun:test';
import type { InputId, SessionId, TurnId } from '@parlance/protocol';
import { EMPTY, type Entry, fold, type SessionStreamEvent } from '@parlance/sdk';
import { shownOf } from './rows.ts';

const agent = { id: 'coder', name: 'Coder' };
let seq = 0;

function event(fields: object): SessionStreamEvent {
  return { session: 's' as SessionId, id: `e${++seq}`, at: seq, seq, ...fields } as SessionStreamEvent;
}

/** The events of an input and its turn; `replaces` is an earlier input. */
const said = (input: string, replaces?: string): SessionStreamEvent[] => [
  ...(replaces ? [event({ type: 'session.rewound', input: replaces, from: 0, by: 'local' })] : []),
  event({ type: 'input.accepted', input, parts: [{ type: 'text', text: input }], dialect: 'native' }),
  event({ type: 'turn.started', turn: `turn ${input}` as TurnId, input, agent }),
  event({ type: 'turn.cancelled', turn: `turn ${input}`, reason: 'cancelled' }),
];

const viewOf = (...all: SessionStreamEvent[][]) => all.flat().reduce(fold, EMPTY);
const inputs = (entries: readonly Entry[]) =>
  entries.map((entry) => (entry.kind === 'turn' ? entry.input?.input : entry.kind)) as string[];

test('the latest version is shown, with the number of versions', () => {
  const view = viewOf(said('a'), said('b'), said('c'), said('B', 'b'));
  const { entries, branches, isLatest } = shownOf(view, {});
  expect(inputs(entries)).toEqual(['a', 'B']);
  expect([...branches]).toEqual([['B', { latest: 'B' as InputId, index: 1, count: 2, at: 'message' }]]);
  expect(isLatest).toBe(true);
});

test('an earlier version is shown to its end', () => {
  const view = viewOf(said('a'), said('b'), said('c'), said('B', 'b'));
  const { entries, branches, isLatest } = shownOf(view, { B: 0 });
  expect(inputs(entries)).toEqual(['a', 'b', 'c']);
  expect([...branches]).toEqual([['b', { latest: 'B' as InputId, index: 0, count: 2, at: 'message' }]]);
  expect(isLatest).toBe(false);
});

test('a message replaced twice has three versions', () => {
  const view = viewOf(said('a'), said('b', 'a'), said('c', 'b'));
  expect([0, 1, 2, 9].map((index) => inputs(shownOf(view, { c: index }).entries))).toEqual([
    ['a'],
    ['b'],
    ['c'],
    ['c'],
  ]);
});

test('a version has versions of its own', () => {
  const view = viewOf(said('a'), said('b'), said('B', 'b'), said('A', 'a'));
  expect(inputs(shownOf(view, {}).entries)).toEqual(['A']);
  expect(inputs(shownOf(view, { A: 0 }).entries)).toEqual(['a', 'B']);
  const inner = shownOf(view, { A: 0, B: 0 });
  expect(inputs(inner.entries)).toEqual(['a', 'b']);
  expect([...inner.branches.keys()]).toEqual(['a', 'b']);
});

test('the same message again is another version of its answer', () => {
  const first = said('b');
  const again = said('B', 'b').map((one) =>
    one.type === 'input.accepted' ? { ...one, parts: [{ type: 'text' as const, text: 'b' }] } : one,
  );
  expect(shownOf(viewOf(first, again), {}).branches.get('B')).toMatchObject({ count: 2, at: 'answer' });
});
