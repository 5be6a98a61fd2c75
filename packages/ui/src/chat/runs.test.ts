import { describe, expect, test } from 'bun:test';
import type { CallView, TurnView } from '@parlance/sdk';
import type { Row } from './rows.ts';
import { changedFiles, foldedRows, printedRows, runCounts, runText } from './runs.ts';

const DONE = { phase: 'ended', outcome: 'ok', parts: [], durationMs: 1, untrusted: false, final: false };
const FAILED = { ...DONE, outcome: 'failed' };
const RUNNING = { phase: 'running', progress: null };

let number = 0;
const callOf = (tool: string, input: object = {}, state: object = DONE, more: object = {}): CallView =>
  ({
    kind: 'call',
    call: `c${++number}`,
    tool,
    input,
    approval: null,
    seqs: [],
    state,
    ...more,
  }) as unknown as CallView;

const rowOf = (item: object): Row => ({ kind: 'item', key: `row ${++number}`, item }) as unknown as Row;
const thought = (state = 'ended'): Row => rowOf({ kind: 'reasoning', state });
const said = (): Row => rowOf({ kind: 'text', state: 'ended', text: 'So.' });
const shell = (state: object = DONE, more: object = {}): Row =>
  rowOf(callOf('shell', { command: ['ls'] }, state, more));
const END = { kind: 'end', key: 'end' } as unknown as Row;
const WORKING = { kind: 'working', key: 'working' } as unknown as Row;

const CLOSED = { isOpen: () => false, isRead: () => false };

/** Runs as their number of calls, other rows as where they are in the list. */
const shapeOf = (all: readonly Row[], shown: ReturnType<typeof foldedRows>['rows']) =>
  shown.map((row) => (row.kind === 'run' ? `${row.calls.length} calls` : all.indexOf(row)));

const pending = { approval: { state: { status: 'pending' }, ask: {} } };

describe('folded rows', () => {
  test('a run ends at a text, and thoughts between its calls are part of it', () => {
    const rows = [thought(), shell(), thought(), shell(), shell(), thought(), said(), shell(), shell(), END];
    expect(shapeOf(rows, foldedRows(rows, CLOSED).rows)).toEqual([0, '3 calls', 5, 6, 7, 8, 9]);
  });

  test('the last call stays visible until no call can follow', () => {
    const rows = [shell(), shell(), shell(), shell(), WORKING];
    expect(shapeOf(rows, foldedRows(rows, CLOSED).rows)).toEqual(['4 calls', 3, 4]);
    const thinking = [...rows.slice(0, 4), thought('open')];
    expect(shapeOf(thinking, foldedRows(thinking, CLOSED).rows)).toEqual(['4 calls', 3, 4]);
    const ended = [...rows.slice(0, 4), END];
    expect(shapeOf(ended, foldedRows(ended, CLOSED).rows)).toEqual(['4 calls', 4]);
  });

  test('failures, pending approvals and what the reader has opened stay visible', () => {
    const read = shell();
    const rows = [shell(), shell(FAILED), read, shell({ phase: 'waiting' }, pending), shell(RUNNING), END];
    const { rows: shown } = foldedRows(rows, {
      isOpen: () => false,
      isRead: (call) => read.kind === 'item' && read.item === call,
    });
    expect(shapeOf(rows, shown)).toEqual(['5 calls', 1, 2, 3, 5]);
    const [run] = shown;
    expect(run?.kind === 'run' && runCounts(run.calls)).toEqual({ failed: 1, waiting: 1, running: 1 });
  });

  test('an open run is followed by all its rows', () => {
    const rows = [shell(), thought(), shell(), shell(), END];
    const { rows: shown, inside } = foldedRows(rows, { ...CLOSED, isOpen: () => true });
    expect(shapeOf(rows, shown)).toEqual(['3 calls', 0, 1, 2, 3, 4]);
    expect([...inside]).toEqual(rows.slice(0, 4));
  });

  test('sub-agents and actions in the browser are never folded', () => {
    const rows = [
      ...['agent', 'agent', 'agent', 'browser_act', 'browser_act', 'browser_act'].map((tool) =>
        rowOf(callOf(tool)),
      ),
      END,
    ];
    expect(foldedRows(rows, CLOSED).rows).toEqual(rows);
  });

  test('a run that has not changed is the same row', () => {
    const rows = [shell(), shell(), shell(), said()];
    const [run] = foldedRows(rows, CLOSED).rows;
    expect(foldedRows([...rows, END], CLOSED).rows[0]).toBe(run as Row);
    expect(foldedRows(rows, { ...CLOSED, isOpen: () => true }).rows[0]).not.toBe(run as Row);
  });
});

test('printed rows keep their order: a call that failed or was approved ends a run', () => {
  const answered = { approval: { state: { status: 'answered', answer: 'once' }, ask: {} } };
  const rows = [shell(), shell(), shell(), shell(FAILED), shell(), shell(DONE, answered), shell(), WORKING];
  expect(shapeOf(rows, printedRows(rows))).toEqual(['3 calls', 3, 4, 5, '1 calls', 7]);
});

const patchOf = (...lines: string[]) => ({
  patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});
const update = (path: string) => patchOf(`*** Update File: ${path}`, '@@', '-a', '+b', '+c');

test('a run says what it did, and counts a file once', () => {
  const calls = [
    ...Array.from({ length: 40 }, () => callOf('shell', { command: ['ls'] })),
    callOf('apply_patch', update('a.ts')),
    callOf('apply_patch', update('a.ts')),
    callOf('save_file', { path: 'b.ts', content: 'b\n' }),
    callOf('read_file', { path: 'a.ts' }),
    callOf('read_file', { path: 'a.ts' }),
    callOf('search_files'),
    callOf('list_files'),
    callOf('mcp_weather'),
  ];
  expect(runText(calls)).toBe('40 commands, 2 searches, 2 files changed, 1 file read, 1 call');
});

test('the changes of a turn are those of its successful calls, by the last name of each file', () => {
  const moved = patchOf('*** Update File: a.ts', '*** Move to: z.ts', '@@', '-b', '+d');
  const items = [
    callOf('apply_patch', update('a.ts')),
    callOf('apply_patch', update('wrong.ts'), FAILED),
    callOf('apply_patch', moved),
    callOf('save_file', { path: 'new.ts', content: 'one\ntwo\n' }),
    callOf('save_file', { path: 7, content: null }),
  ];
  const changed = changedFiles({ items } as unknown as TurnView);
  expect(changed.map(({ path, added, removed, edits }) => [path, added, removed, edits.length])).toEqual([
    ['z.ts', 3, 2, 2],
    ['new.ts', 2, 0, 1],
  ]);
});
