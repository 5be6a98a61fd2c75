import { expect, test } from 'bun:test';
import type { DurableEvent } from '@parlance/protocol';
import { turnsOf } from './waterfall.ts';

/** Events from their times, numbered in order. */
const eventsOf = (all: readonly (readonly [at: number, event: object])[]): DurableEvent[] =>
  all.map(([at, event], index) => ({ seq: index + 1, at, id: String(index), ...event }) as DurableEvent);

const agent = { id: 'coder', name: 'Coder' };
const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
const step = (tokens: number, more: object = {}) => ({
  type: 'step.ended',
  turn: 't',
  usage: usage(tokens, 0),
  stop: 'done',
  ...more,
});
const begin = [
  [0, { type: 'input.accepted', input: 'i', parts: [{ type: 'text', text: 'Do it\nnow' }] }],
  [10, { type: 'turn.started', turn: 't', input: 'i', agent }],
] as const;
const call = (id: string, tool: string) => ({ type: 'call.requested', turn: 't', call: id, tool, input: {} });
const ended = (id: string, more: object = {}) => ({
  type: 'tool.ended',
  turn: 't',
  call: id,
  outcome: 'ok',
  ...more,
});

test('steps and calls follow one another, with times, tokens and cost', () => {
  const [turn] = turnsOf(
    eventsOf([
      ...begin,
      [110, call('a', 'shell')],
      [110, call('b', 'read_file')],
      [110, step(100, { stop: 'calls', cost: 2_000, model: 'm' })],
      [115, { type: 'tool.started', turn: 't', call: 'a' }],
      [120, { type: 'tool.started', turn: 't', call: 'b' }],
      [140, ended('b', { outcome: 'failed' })],
      [200, ended('a')],
      [320, step(50, { cost: 1_000 })],
      [321, { type: 'turn.ended', turn: 't' }],
    ]),
  );
  expect(turn).toMatchObject({
    ...{ label: 'Do it now', agent: 'Coder', model: 'm', from: 10, to: 321 },
    ...{ steps: 2, calls: 2, tokens: 150, cost: 0.003 },
  });
  expect(
    turn?.spans.map(({ label, from, to, tokens, problem }) => [label, from, to, tokens, problem]),
  ).toEqual([
    ['Step 1', 10, 110, 100, null],
    ['shell', 115, 200, null, null],
    ['read_file', 120, 140, null, 'failed'],
    ['Step 2', 200, 320, 50, null],
  ]);
});

test('waiting for a person has a span of its own, below the call', () => {
  const [turn] = turnsOf(
    eventsOf([
      ...begin,
      [20, call('a', 'shell')],
      [20, call('b', 'shell')],
      [20, step(1)],
      [21, { type: 'approval.requested', turn: 't', call: 'a', approval: 'x' }],
      [521, { type: 'approval.answered', turn: 't', call: 'a', approval: 'x', answer: 'once' }],
      [522, { type: 'tool.started', turn: 't', call: 'a' }],
      [600, { type: 'turn.cancelled', turn: 't', reason: 'cancelled' }],
    ]),
  );
  expect(turn?.spans.map(({ label, depth, from, to, problem }) => [label, depth, from, to, problem])).toEqual(
    [
      ['Step 1', 0, 10, 20, null],
      ['shell', 0, 522, 600, 'stopped'],
      ['Approval', 1, 21, 521, null],
      ['shell', 0, 20, 600, 'stopped'],
    ],
  );
});

test('what has not ended is open, and a sub-agent is named', () => {
  const [turn] = turnsOf(
    eventsOf([
      ...begin,
      [20, call('a', 'agent')],
      [20, step(1)],
      [25, { type: 'tool.started', turn: 't', call: 'a', child: { session: 'child', path: ['explore'] } }],
    ]),
  );
  expect(turn).toMatchObject({ to: null, spans: [{ label: 'Step 1' }, { to: null, child: 'child' }] });
  expect(turnsOf([])).toEqual([]);
});
