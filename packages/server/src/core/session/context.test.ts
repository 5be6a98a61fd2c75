import { describe, expect, test } from 'bun:test';
import { type CallId, type DurableEventBody, type HistoryItem, textPart } from '@parlance/protocol';
import {
  brief,
  CODER,
  call,
  cancelled,
  cleared,
  compacted,
  ended,
  folded,
  history,
  imported,
  input,
  numbered,
  reasoning,
  result,
  resumed,
  shown,
  started,
  step,
  text,
} from '../../testing/context-events.ts';
import { cutContext, EMPTY, isTainted } from './context.ts';
import { evolve } from './evolve.ts';
import { initialState } from './session-state.ts';

describe('the context', () => {
  test('places inputs at the start of their turn, not where they were accepted', () => {
    const events = [input('one'), started('one'), input('two'), text('1'), step, ended, started('two')];
    expect(shown(folded(numbered(events)))).toEqual(['user one', 'text 1', 'user two']);
  });

  test('contains imported history until one of its messages is replaced', () => {
    const events = [imported('one'), imported('two'), input('three'), started('three')];
    const taken = ['user one', 'text answer to one', 'user two', 'text answer to two'];
    expect(shown(folded(numbered(events)))).toEqual([...taken, 'user three']);
    const rewound: DurableEventBody = { type: 'session.rewound', input: 'two' as never, from: 2, by: 'ada' };
    expect(shown(folded(numbered([...events, ended, rewound])))).toEqual(taken.slice(0, 2));
  });

  test('places instructions around an input, and after the results of all calls', () => {
    const instructed = { ...input('one'), system: { before: 'first', after: 'last' } };
    const answered = { ...result('b'), system: 'go on' } as DurableEventBody;
    const calls = [call('a'), call('b'), step, answered, result('a')];
    const events = [instructed as DurableEventBody, started('one'), ...calls, text('1'), step];
    expect(shown(folded(numbered(events)))).toEqual([
      'system first',
      'user one',
      'system last',
      'call a',
      'call b',
      'result ok a',
      'result ok b',
      'system go on',
      'text 1',
    ]);
  });

  test('drops the unfinished step when the turn resumes, and keeps the finished ones', () => {
    const finished = [input('one'), started('one'), text('1'), call('a'), step, result('a')];
    const events = [...finished, reasoning('half a thought'), resumed, text('2'), step];
    expect(shown(folded(numbered(events)))).toEqual([
      'user one',
      'text 1',
      'call a',
      'result ok a',
      'text 2',
    ]);
  });

  test('keeps a direct call if the process dies before its result', () => {
    const events = [input('one'), started('one'), call('a'), resumed, result('a', 'unknown')];
    expect(shown(folded(numbered(events)))).toEqual(['user one', 'call a', 'result unknown a']);
  });

  test('keeps the streamed text of an interrupted turn', () => {
    const events = [
      input('one'),
      started('one'),
      text('Half', true),
      cancelled,
      input('two'),
      started('two'),
    ];
    const context = folded(numbered([...events, resumed]));
    expect(shown(context)).toEqual(['user one', 'text Half', 'user two']);
  });

  test('drops the unfinished step even if the context was compacted during it', () => {
    const before = [input('one'), started('one'), text('1'), step, ended, input('two'), started('two')];
    const events = [...before, reasoning('half a thought'), compacted(7, 6), resumed, text('2'), step];
    expect(shown(folded(numbered(events)))).toEqual(['summary so far', 'user two', 'text 2']);
  });

  test('is empty after a clear, except for queued inputs', () => {
    const events = [input('one'), started('one'), input('two'), cancelled, cleared];
    expect(shown(folded(numbered(events)))).toEqual([]);
    expect(folded(numbered(events)).tokens).toBe(0);
    expect(shown(folded(numbered([...events, started('two')])))).toEqual(['user two']);
  });

  test('contains only the last summary', () => {
    const events = [
      ...[input('one'), started('one'), text('1'), step, ended],
      ...[compacted(6, 6), input('two'), started('two'), ended, compacted(9, 9)],
    ];
    expect(shown(folded(numbered(events)))).toEqual(['summary so far']);
  });
});

describe('a cut', () => {
  const turn = (name: string, size: number): DurableEventBody[] => [
    input(name),
    started(name),
    text('x'.repeat(size * 4)),
    step,
    ended,
  ];

  test('keeps the last complete turns that fit, and drops the rest', () => {
    const context = folded(numbered([...turn('one', 100), ...turn('two', 100), ...turn('three', 100)]));
    const cut = cutContext(context, 250);
    expect(cut).toMatchObject({ keepFrom: 7, readFrom: 6 });
    expect(cut?.dropped.map(brief)[0]).toBe('user one');
    expect(cut?.dropped).toHaveLength(2);
  });

  test('always keeps the running turn, however large it is', () => {
    const context = folded(numbered([...turn('one', 100), input('two'), started('two'), text('y'), step]));
    expect(cutContext(context, 0, 7)).toMatchObject({ keepFrom: 7, readFrom: 6 });
  });

  test('is not made if nothing, or only the last summary, would be dropped', () => {
    expect(cutContext(EMPTY, 0)).toBeNull();
    expect(cutContext(folded(numbered(turn('one', 100))), 1_000)).toBeNull();
    const events = [...turn('one', 100), compacted(6, 6), input('two'), started('two')];
    expect(cutContext(folded(numbered(events)), 0, 8)).toBeNull();
  });

  test('starts at the first queued input, so that it is not lost', () => {
    const events = numbered([input('one'), input('two'), started('one'), text('1'), step, ended]);
    const cut = cutContext(folded(events), 0);
    expect(cut).toMatchObject({ keepFrom: 4, readFrom: 2 });
  });

  test('does not affect a turn that starts while the summary is written', () => {
    const before = numbered(turn('one', 100));
    const cut = cutContext(folded(before), 0);
    const after = [...turn('one', 100), input('two'), started('two'), compacted(cut?.keepFrom ?? 0, 0)];
    expect(shown(folded(numbered(after)))).toEqual(['summary so far', 'user two']);
  });
});

describe('for any history', () => {
  const SEEDS = Array.from({ length: 300 }, (_, index) => index + 1);

  test('the context folded from readFrom equals the context folded from the first event', () => {
    for (const seed of SEEDS) {
      const events = numbered(history(seed, 60));
      let state = initialState(CODER);
      for (const [index, event] of events.entries()) {
        state = evolve(state, event);
        const all = folded(events.slice(0, index + 1));
        const late = folded(events.slice(Math.max(0, state.readFrom - 1), index + 1));
        const { tokens, settled } = late;
        expect({ seed, at: event.seq, items: shown(late), tokens, settled }).toEqual({
          seed,
          at: event.seq,
          items: shown(all),
          tokens: all.tokens,
          settled: all.settled,
        });
        expect([...late.waiting.keys()]).toEqual([...all.waiting.keys()]);
      }
    }
  });

  test('every result follows its call, and no finished turn has a call without a result', () => {
    for (const seed of SEEDS) {
      const events = numbered(history(seed, 60));
      for (let length = 1; length <= events.length; length++) {
        const { entries } = folded(events.slice(0, length));
        const open = new Set<string>();
        for (const { item } of entries) {
          if (item.kind === 'call') open.add(item.call);
          if (item.kind === 'result') {
            const known = open.delete(item.call);
            expect({ seed, length, call: item.call, known }).toEqual({
              seed,
              length,
              call: item.call,
              known: true,
            });
          }
          if (item.kind === 'user') expect({ seed, length, open: [...open] }).toMatchObject({ open: [] });
        }
      }
    }
  });
});

describe('untrusted content', () => {
  const untrusted = (id: string) => ({ ...result(id), untrusted: true }) as DurableEventBody;
  const tainted = (events: readonly DurableEventBody[], id?: string) =>
    isTainted(folded(numbered(events)), id as CallId | undefined);
  const turn = (name: string, ...content: DurableEventBody[]) => [
    input(name),
    started(name),
    ...content,
    ended,
  ];
  const read = turn('one', call('a'), step, untrusted('a'), text('1'), step);

  test('taints later calls in its turn and in all later turns, not those of the same answer', () => {
    const parallel = [input('one'), started('one'), call('a'), call('b'), step, untrusted('a')];
    expect(tainted(parallel, 'b')).toBe(false);
    expect(tainted([...parallel, result('b'), call('c'), step], 'c')).toBe(true);
    expect(tainted(turn('one', call('a'), step, result('a'), text('1'), step))).toBe(false);
    expect(tainted(read)).toBe(true);
    expect(tainted([...read, ...turn('two', text('2'), step), ...turn('three', text('3'), step)])).toBe(true);
  });

  test('taints until it is cleared, compacted or rewound', () => {
    const later = [...read, ...turn('two', text('2'), step)];
    const second = read.length + 2;
    expect(tainted([...later, cleared])).toBe(false);
    expect(tainted([...later, compacted(second, second - 1)])).toBe(false);
    expect(tainted([...later, compacted(2, 1)])).toBe(true);
    const rewound = (name: string, from: number): DurableEventBody[] => [
      { type: 'session.rewound', input: name as never, from, by: 'ada' },
    ];
    expect(tainted([...later, ...rewound('two', second - 1)])).toBe(true);
    expect(tainted([...later, ...rewound('one', 1)])).toBe(false);
  });

  const file = { kind: 'file', url: 'https://example.com/a.pdf' } as const;
  test.each([
    ['a page', { parts: [{ type: 'page', title: '', url: '', text: 'Run it.' }] }, true],
    ['a link', { parts: [{ ...textPart('a.pdf'), link: file }] }, true],
    ['content of someone else', { untrusted: true }, true],
    ['a file', { parts: [{ type: 'file', name: 'a.md', mime: 'text/plain', data: 'YQ==' }] }, false],
    ['text alone', {}, false],
  ])('an input with %s', (_name, more, expected) => {
    const accepted = { ...input('one'), ...more } as DurableEventBody;
    expect(tainted([accepted])).toBe(false);
    expect(tainted([accepted, started('one')])).toBe(expected);
  });

  const asked: HistoryItem = { type: 'user', parts: [textPart('one')] };
  const used: HistoryItem[] = [
    { type: 'call', call: 'a' as CallId, tool: 'lookup', input: {} },
    { type: 'result', call: 'a' as CallId, parts: [textPart('Run it.')] },
  ];
  test.each<[string, { items: HistoryItem[]; untrusted?: boolean }, boolean]>([
    ['with tool results', { items: [asked, ...used] }, true],
    ['with trusted tool results', { items: [asked, ...used], untrusted: false }, false],
    [
      'with a page',
      { items: [{ type: 'user', parts: [{ type: 'page', title: '', url: '', text: '' }] }] },
      true,
    ],
    ['with messages only', { items: [asked, { type: 'text', text: 'answer' }] }, false],
    ['of someone else', { items: [asked], untrusted: true }, true],
  ])('a history %s', (_name, taken, expected) => {
    expect(tainted([{ type: 'history.imported', dialect: 'native', ...taken }])).toBe(expected);
  });
});
