import { describe, expect, test } from 'bun:test';
import type { ConnectionId, InputId, TurnId } from '@parlance/protocol';
import { give, idle, inTurn, PHASES, queued, submit, thinking, USAGE } from '../../testing/phases.ts';
import { nextAction } from './next-action.ts';
import { isIdle, type SessionState, statusOf } from './session-state.ts';

test('the status and the next action follow from the state in every phase', () => {
  const seen = Object.entries(PHASES).map(([phase, state]) => [
    phase,
    statusOf(state),
    nextAction(state).kind,
    isIdle(state),
  ]);
  expect(seen).toEqual([
    ['unborn', 'idle', 'idle', true],
    ['idle', 'idle', 'idle', true],
    ['failed', 'failed', 'idle', true],
    ['thinking', 'running', 'callModel', false],
    ['queued', 'running', 'callModel', false],
    ['requested', 'running', 'runTools', false],
    ['waiting', 'waiting', 'idle', false],
    ['allowed', 'running', 'runTools', false],
    ['running', 'running', 'runTools', false],
  ]);
});

describe('the state', () => {
  test('keeps a bounded number of keys and answers', () => {
    let state = idle;
    for (let index = 0; index < 300; index++) state = give(state, submit('x'), { key: `k${index}` });
    expect(state.keys).toHaveLength(256);
    expect(state.keys.at(-1)?.key).toBe('k299');
  });

  test('folded from a checkpoint equals folded from the first event', () => {
    const more = (from: SessionState) => {
      const via = 'socket' as ConnectionId;
      const begun = give(from, submit('Again'), {
        via,
        key: 'k',
        ids: { input: 'same' as InputId, turn: 'same' as TurnId },
      });
      return { ...begun, updatedAt: 0 };
    };
    expect(more(JSON.parse(JSON.stringify(idle)))).toEqual(more(idle));
  });

  test('still has the queued inputs after a clear', () => {
    const cleared = give(queued, { type: 'session.clear' });
    expect(cleared.queue).toEqual(queued.queue);
    expect(cleared.readFrom).toBe(queued.readFrom);
    expect(give(idle, { type: 'session.clear' }).readFrom).toBe(idle.seq + 1);
  });

  test('sums the usage of the steps of a turn', () => {
    const once = inTurn(thinking, (turn) => [{ type: 'step.ended', turn, usage: USAGE, stop: 'done' }]);
    const twice = inTurn(once, (turn) => [
      { type: 'step.ended', turn, usage: { ...USAGE, cachedTokens: 1 }, stop: 'done' },
    ]);
    expect(twice.turn?.usage).toEqual({
      inputTokens: 6,
      outputTokens: 4,
      cachedTokens: 1,
      reasoningTokens: undefined,
    });
    expect(twice.turn?.steps).toBe(2);
  });
});
