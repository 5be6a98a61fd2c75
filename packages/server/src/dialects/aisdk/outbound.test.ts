import { describe, expect, test } from 'bun:test';
import type { SessionEvent } from '@parlance/protocol';
import type { SessionSnapshot } from '../../core/index.ts';
import { aisdk } from './dialect.ts';
import { START, step } from './outbound.ts';

const event = (type: string, fields: object = {}): SessionEvent =>
  ({ type, turn: 't', session: 's', id: type, at: 0, seq: 1, ...fields }) as unknown as SessionEvent;

const started = event('turn.started', { input: 'i' });
const usage = { inputTokens: 1, outputTokens: 1 };
const stepEnded = (stop: string) => event('step.ended', { usage, stop });
const turnEnded = event('turn.ended', { usage });
const requested = (call: string, tool = 'shell') => event('call.requested', { call, tool, input: {} });
const ended = (call: string, outcome: string) =>
  event('tool.ended', { call, outcome, parts: [{ type: 'text', text: 'why' }] });

function framesOf(...events: SessionEvent[]) {
  let state = START;
  return events.flatMap((one) => {
    const [next, frames] = step(state, one);
    state = next;
    return frames.map(({ body }) => body.chunk);
  });
}

const typesOf = (...events: SessionEvent[]) =>
  framesOf(...events).map((frame) => (typeof frame === 'string' ? frame : frame.type));

test.each([
  ['done', 'stop'],
  ['length', 'length'],
  ['refused', 'content-filter'],
  ['calls', 'stop'],
])('a turn whose last answer ended as %s finishes with %s', (stop, finishReason) => {
  expect(framesOf(started, stepEnded(stop), turnEnded).at(-1)).toMatchObject({ finishReason });
});

test('an answer without content is an empty text in a separate step', () => {
  const before = [started, requested('c'), stepEnded('calls'), ended('c', 'ok')];
  expect(typesOf(...before, stepEnded('done'), turnEnded).slice(-6)).toEqual([
    'finish-step',
    'start-step',
    'text-start',
    'text-end',
    'finish-step',
    'finish',
  ]);
});

test('a call that a rule denies without an approval is an error', () => {
  expect(framesOf(started, requested('c'), stepEnded('calls'), ended('c', 'denied')).at(-1)).toMatchObject({
    type: 'tool-output-error',
    errorText: 'why',
  });
});

describe('a retried answer', () => {
  const restarted = event('step.restarted');
  const delta = (block: string) => event('text.delta', { block, text: 'words' });

  test('discards its own step, but never an earlier one', () => {
    const before = [
      started,
      delta('a'),
      event('text.ended', { block: 'a', text: 'words' }),
      stepEnded('calls'),
    ];
    expect(typesOf(...before, restarted)).not.toContain('reset-step');
    expect(typesOf(...before, delta('b'), restarted).slice(-4)).toEqual([
      'start-step',
      'text-start',
      'text-delta',
      'reset-step',
    ]);
  });

  test('does not discard calls that were made', () => {
    expect(typesOf(started, requested('c'), event('turn.resumed'))).not.toContain('reset-step');
  });
});

test('tools that a page declared are its own; those of other callers are shown like server tools', () => {
  const accepted = (dialect: string) =>
    event('input.accepted', { input: 'i', parts: [], dialect, tools: [{ name: 'locate' }] });
  const of = (dialect: string) => framesOf(accepted(dialect), started, requested('c', 'locate')).at(-1);
  expect(of('aisdk')).not.toHaveProperty('dynamic');
  expect(of('elsewhere')).toMatchObject({ dynamic: true, providerExecuted: true });
});

test('a new subscriber receives the block being streamed', () => {
  const now = {
    open: { kind: 'text', turn: 't', block: 'b', text: 'so far' },
    openArguments: [],
  } as unknown as SessionSnapshot;
  const [state] = step(START, started);
  expect(aisdk.projection.attach(state, now)).toEqual([
    { turn: 't', chunk: { type: 'start-step' } },
    { turn: 't', chunk: { type: 'text-start', id: 'b' } },
    { turn: 't', chunk: { type: 'text-delta', id: 'b', delta: 'so far' } },
  ]);
});
