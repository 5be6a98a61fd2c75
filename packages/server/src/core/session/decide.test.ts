import { describe, expect, test } from 'bun:test';
import { type CallId, type TurnId, textOf, textPart } from '@parlance/protocol';
import {
  APPROVAL,
  after,
  allowed,
  asking,
  CODER,
  give,
  idle,
  inTurn,
  newSession,
  outcomeOf,
  PHASES,
  queued,
  submit,
  thinking,
  types,
  waiting,
} from '../../testing/phases.ts';
import { type DecidableCommand, decide } from './decide.ts';

import { nextAction } from './next-action.ts';
import { initialState, type SessionState, waitingCall } from './session-state.ts';

const BEGINS = ['input.accepted', 'turn.started'];
const ENDS = ['turn.cancelled'];
const ABORTS = ['tool.ended', 'turn.cancelled'];

type Row = Record<keyof typeof PHASES, string[] | string>;
type Cell = string[] | string;
const atAllTimes = (cell: Cell): Row => ({
  ...{ unborn: cell, idle: cell, failed: cell, thinking: cell, queued: cell },
  ...{ requested: cell, waiting: cell, allowed: cell, running: cell },
});
/** One cell for phases without a turn, one for model phases, one for phases with an open call. */
const by = (rests: Cell, thinks: Cell, calls: Cell): Row => ({
  ...{ unborn: rests, idle: rests, failed: rests, thinking: thinks, queued: thinks },
  ...{ requested: calls, waiting: calls, allowed: calls, running: calls },
});
const BEGINS_ALL = { unborn: ['session.created', ...BEGINS] };

/** The result of each command in each phase: the events, or the code of the fault. */
const TABLE: [string, DecidableCommand, Row][] = [
  [
    'session.create',
    { type: 'session.create', named: true },
    { ...atAllTimes([]), unborn: ['session.created'] },
  ],
  [
    'input.submit, queue',
    submit('More'),
    { ...by(BEGINS, ['input.accepted'], ['input.accepted']), ...BEGINS_ALL },
  ],
  [
    'input.submit, supersede',
    submit('Instead', 'supersede'),
    { ...by(BEGINS, [...ENDS, ...BEGINS], [...ABORTS, ...BEGINS]), ...BEGINS_ALL },
  ],
  [
    'input.submit, steer',
    submit('Also this', 'steer'),
    { ...by(BEGINS, ['input.accepted'], ['input.accepted']), ...BEGINS_ALL },
  ],
  ['input.submit, empty', submit('  \n'), atAllTimes('empty')],
  ['turn.cancel', { type: 'turn.cancel' }, by('no_turn', ENDS, ABORTS)],
  [
    'approval.answer, once',
    { type: 'approval.answer', answer: 'once', exit: false },
    { ...atAllTimes('no_approval'), waiting: ['approval.answered'] },
  ],
  [
    'approval.answer, deny and exit',
    { type: 'approval.answer', answer: 'deny', exit: true },
    { ...atAllTimes('no_approval'), waiting: ['approval.answered', ...ABORTS] },
  ],
  [
    'session.clear',
    { type: 'session.clear' },
    {
      ...by(['session.cleared'], [...ENDS, 'session.cleared'], [...ABORTS, 'session.cleared']),
      unborn: [],
    },
  ],
];

for (const [name, command, row] of TABLE) {
  test(`${name} has a defined result in every phase`, () => {
    const outcomes = Object.entries(PHASES).map(([phase, state]) => [phase, outcomeOf(state, command)]);
    expect(Object.fromEntries(outcomes)).toEqual(row);
  });
}

test('decisions are the same after a checkpoint, in every phase', () => {
  for (const [phase, state] of Object.entries(PHASES)) {
    const read = JSON.parse(JSON.stringify(state)) as SessionState;
    expect({ phase, state: read }).toEqual({ phase, state });
    for (const [, command] of TABLE) expect(outcomeOf(read, command)).toEqual(outcomeOf(state, command));
  }
});

describe('inputs', () => {
  test('an input with a known key produces no events, in any mode and phase', () => {
    const keyed = give(thinking, submit('Once'), { key: 'k' });
    expect(decide(keyed, submit('Once'), asking({ key: 'k' }))).toEqual([]);
    expect(decide(keyed, submit('Once', 'supersede'), asking({ key: 'k' }))).toEqual([]);
    expect(types(decide(keyed, submit('Once'), asking({ key: 'other' })))).toEqual(['input.accepted']);
  });

  test('a message with only an image is not empty', () => {
    const parts = [textPart(' '), { type: 'image' as const, mime: 'image/png', data: 'AAAA' }];
    expect(types(decide(idle, { ...submit(''), parts } as DecidableCommand, asking()))).toEqual(BEGINS);
  });

  test('a superseding message ends the running turn, and earlier queued inputs go first', () => {
    const state = give(queued, submit('Third', 'supersede'));
    expect(state.turn?.id).not.toBe(queued.turn?.id);
    expect(queued.queue).toHaveLength(1);
    expect(state.queue).toHaveLength(1);
    expect(state.queue[0]?.input).not.toBe(queued.queue[0]?.input);
  });

  test('a cancel keeps the queue: its first input starts next', () => {
    const state = give(queued, { type: 'turn.cancel' });
    expect(state.queue).toEqual(queued.queue);
    expect(nextAction(state)).toEqual({ kind: 'startTurn' });
  });

  test('the turn of a queued input has the id that was given to it', () => {
    const turn = queued.queue[0]?.turn;
    expect(turn).toBeDefined();
    expect(give(queued, submit('Third', 'supersede')).turn?.id).toBe(turn as never);
  });

  test('an input queued by an older version names its turn, and the next input gets another one', () => {
    const older = { ...queued, queue: queued.queue.map(({ turn: _, ...input }) => input) };
    const state = give(older, submit('Third', 'supersede'));
    expect(state.turn?.id).toBe(older.queue[0]?.input as never);
    expect(state.queue[0]?.turn).not.toBe(state.turn?.id as never);
  });

  test('a cancel with a turn ends that turn alone', () => {
    const cancel = (turn?: string): DecidableCommand => ({ type: 'turn.cancel', turn: turn as TurnId });
    const [running, waits] = [queued.turn?.id, queued.queue[0]?.turn];
    expect(outcomeOf(queued, cancel(running))).toEqual(ENDS);
    expect(outcomeOf(queued, cancel(waits))).toEqual(['input.cancelled']);
    expect(outcomeOf(queued, cancel('another'))).toBe('no_turn');
    const state = give(queued, cancel(waits));
    expect([state.turn?.id, state.queue]).toEqual([running, []]);
    expect(outcomeOf(state, cancel(waits))).toBe('no_turn');
  });

  test('a direct call is queued with its input and needs no model', () => {
    const call = { tool: 'lookup', input: { word: 'a' } };
    const command: DecidableCommand = { type: 'input.submit', parts: [], mode: 'queue', named: true, call };
    const state = give(idle, command);
    expect(state.turn?.calls.map(({ tool, phase }) => [tool, phase])).toEqual([['lookup', 'requested']]);
    expect(state.turn?.answered).toBe(true);
    expect(give(thinking, command).queue[0]?.call).toEqual(call);
  });

  test('a title is one short line of the first message', () => {
    const state = give(newSession, submit(`  a\n\tlong ${'story '.repeat(100)}`));
    expect(state.title).toStartWith('a long story');
    expect(state.title).toHaveLength(80);
    expect(give(state, submit('Second')).title).toBe(state.title);
  });
});

describe('interruptions', () => {
  const open = { kind: 'text' as const, block: 'b' as never, text: 'Half', durationMs: 1 };

  test('a running call gets an unknown outcome; the others are aborted', () => {
    const call = 'call-2' as CallId;
    const two = inTurn(PHASES.running, (turn) => [
      { type: 'call.requested', turn, call, tool: 'shell', input: {} },
      { type: 'call.requested', turn, call: 'call-3' as CallId, tool: 'shell', input: {} },
      { type: 'tool.started', turn, call: 'call-3' as CallId },
      { type: 'call.deferred', turn, call: 'call-3' as CallId },
    ]);
    for (const command of [{ type: 'turn.cancel' } as const, submit('Instead', 'supersede')]) {
      const ended = decide(two, command, asking()).filter((event) => event.type === 'tool.ended');
      expect(ended.map(({ outcome, interrupted }) => [outcome, interrupted])).toEqual([
        ['unknown', true],
        ['aborted', undefined],
        ['aborted', undefined],
      ]);
      expect(textOf(ended[0]?.parts ?? [])).toContain('may have happened');
    }
  });

  test('a cancel keeps the streamed text of the open block', () => {
    const events = decide(thinking, { type: 'turn.cancel' }, asking({ open }));
    expect(events[0]).toMatchObject({ type: 'text.ended', text: 'Half', interrupted: true });
    expect(events.at(-1)).toMatchObject({ type: 'turn.cancelled', reason: 'cancelled' });
  });

  test('an empty block produces no event', () => {
    const none = { ...open, text: '' };
    expect(types(decide(thinking, { type: 'turn.cancel' }, asking({ open: none })))).toEqual(ENDS);
  });

  test('every call of an interrupted turn gets an outcome', () => {
    const two = inTurn(waiting, (turn) => [
      { type: 'call.requested', turn, call: 'call-2' as CallId, tool: 'shell', input: {} },
    ]);
    const events = decide(two, { type: 'turn.cancel' }, asking());
    expect(types(events)).toEqual(['tool.ended', 'tool.ended', 'turn.cancelled']);
  });
});

describe('approvals', () => {
  const answer = (more: object): DecidableCommand => ({
    type: 'approval.answer',
    answer: 'once',
    exit: false,
    ...more,
  });
  const codeOf = (state: SessionState, more: object, isKnown = false) =>
    outcomeOf(state, answer(more), { isKnown });

  test('a late answer and an unknown approval are different faults', () => {
    expect(codeOf(allowed, { approval: APPROVAL }, true)).toBe('no_approval');
    expect(codeOf(waiting, { approval: 'earlier' }, true)).toBe('no_approval');
    expect(codeOf(allowed, { approval: 'never' })).toBe('not_found');
    expect(codeOf(waiting, { approval: 'never' })).toBe('not_found');
    expect(codeOf(newSession, { approval: APPROVAL })).toBe('not_found');
  });

  test('an unanswered approval of an ended turn counts as answered', () => {
    const cancelled = give(waiting, { type: 'turn.cancel' });
    expect(codeOf(cancelled, { approval: APPROVAL }, true)).toBe('no_approval');
    const superseded = give(waiting, submit('Instead', 'supersede'));
    expect(codeOf(superseded, { approval: APPROVAL }, true)).toBe('no_approval');
  });

  test('an answer is accepted only with the matching hash', () => {
    expect(codeOf(waiting, { hash: 'hash-2' })).toBe('invalid');
    expect(codeOf(waiting, { hash: 'hash-1' })).toEqual(['approval.answered']);
  });

  test('always adds one grant for the shown action; deny adds none', () => {
    const always = give(waiting, answer({ answer: 'always' }));
    expect(always.grants).toEqual(['shell:ls']);
    expect(give(waiting, answer({ answer: 'deny' })).grants).toEqual([]);
    expect(give(waiting, answer({})).grants).toEqual([]);
  });

  test('a denial gives the model the reason, and the turn continues', () => {
    const events = decide(waiting, answer({ answer: 'deny', reason: 'not now' }), asking());
    expect(events[1]).toMatchObject({
      outcome: 'denied',
      parts: [textPart('The user denied this call: not now')],
    });
    const state = after(waiting, events);
    expect(nextAction(state).kind).toBe('callModel');
    expect(waitingCall(state)).toBeUndefined();
  });

  test('a denial with exit ends the turn and aborts the remaining calls', () => {
    const two = inTurn(waiting, (turn) => [
      { type: 'call.requested', turn, call: 'call-2' as CallId, tool: 'shell', input: {} },
    ]);
    const events = decide(two, answer({ answer: 'deny', exit: true }), asking());
    expect(events.map((event) => [event.type, 'outcome' in event ? event.outcome : ''])).toEqual([
      ['approval.answered', ''],
      ['tool.ended', 'denied'],
      ['tool.ended', 'aborted'],
      ['turn.cancelled', ''],
    ]);
    expect(after(two, events).turn).toBeNull();
  });
});

test('a session with more labels than the limit can change them but not add any', () => {
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`label-${index}`, 'x']));
  const created = give(initialState(CODER), { type: 'session.create', named: true });
  const many = after(created, [{ type: 'session.labelled', labels }]);
  const changed = give(many, { type: 'session.label', labels: { 'label-0': 'changed' } });
  expect(changed.labels).toEqual({ ...labels, 'label-0': 'changed' });
  expect(() => decide(many, { type: 'session.label', labels: { other: 'x' } }, asking())).toThrow(
    'A session may have at most 50 labels.',
  );
});
