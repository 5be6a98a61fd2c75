import { describe, expect, test } from 'bun:test';
import type { EphemeralEvent, SessionEvent } from '@parlance/protocol';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';
import { CALLER, SESSION, say, setStage } from '../../testing/stage.ts';

const writes = (text: string, { call = 'call_1', index = 0, tool = 'lookup' } = {}): Line => ({
  type: 'arguments',
  index,
  call,
  tool,
  text,
});

type Delta = EphemeralEvent<'call.arguments.delta'>;
const deltas = (events: readonly SessionEvent[]): Delta[] =>
  events.filter((event): event is Delta => event.type === 'call.arguments.delta');

const RETRY: Line = {
  type: 'retrying',
  attempt: 2,
  delayMs: 0,
  fault: { code: 'provider_unavailable', message: 'It broke off.' },
};

describe('streamed arguments of a call', () => {
  test('are published before the call and not stored', async () => {
    const written = [writes(''), writes('{"word"'), writes(':"a"}')];
    const stage = await setStage([calls('lookup', { word: 'a' }, { before: written }), says('Done.')]);
    await say(stage.engine, 'Go');
    await stage.engine.whenIdle(SESSION);
    expect(deltas(stage.events).map(({ call, tool, offset, text }) => [call, tool, offset, text])).toEqual([
      ['call_1', 'lookup', 0, ''],
      ['call_1', 'lookup', 0, '{"word"'],
      ['call_1', 'lookup', 7, ':"a"}'],
    ] as never);
    const types = stage.events.map(({ type }) => type);
    expect(types.lastIndexOf('call.arguments.delta')).toBeLessThan(types.indexOf('call.requested'));
    const stored = await stage.store.read(SESSION, 0, 100);
    expect(stored.map(({ type }) => String(type))).not.toContain('call.arguments.delta');
  });

  test('are in the snapshot until the turn is cancelled', async () => {
    const stage = await setStage([[writes('{"wo'), writes('rd"'), { type: 'hang' }]]);
    await say(stage.engine, 'Go');
    await stage.provider.hanging;
    const { turn, openArguments } = await stage.engine.snapshot(SESSION);
    expect(openArguments).toEqual([{ turn, call: 'call_1', tool: 'lookup', text: '{"word"' }] as never);
    await stage.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    expect((await stage.engine.snapshot(SESSION)).openArguments).toEqual([]);
  });

  test('are discarded when the step restarts', async () => {
    const again = [writes('{"word"'), RETRY, writes('{"wo'), writes('rd":"b"}')];
    const stage = await setStage([calls('lookup', { word: 'b' }, { before: again }), says('Done.')]);
    const restarted = stage.happens('step.restarted');
    await say(stage.engine, 'Go');
    await restarted;
    await stage.engine.whenIdle(SESSION);
    const from = stage.events.findIndex(({ type }) => type === 'step.restarted');
    expect(deltas(stage.events.slice(from)).map(({ offset, text }) => [offset, text])).toEqual([
      [0, '{"wo'],
      [4, 'rd":"b"}'],
    ]);
    expect((await stage.engine.snapshot(SESSION)).openArguments).toEqual([]);
  });

  test('carry the id of their call, even if the model uses an id twice', async () => {
    const stage = await setStage([
      [
        writes('{"word":"a"}'),
        writes('{"word":"b"}', { index: 1 }),
        { type: 'call', call: 'call_1', tool: 'lookup', input: { word: 'a' } },
        { type: 'call', call: 'call_1', tool: 'lookup', input: { word: 'b' } },
        { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'calls' },
      ],
      says('Done.'),
    ]);
    await say(stage.engine, 'Go');
    await stage.engine.whenIdle(SESSION);
    const requested = stage.events.flatMap((event) => (event.type === 'call.requested' ? [event.call] : []));
    expect(deltas(stage.events).map(({ call }) => call)).toEqual(requested);
    expect(new Set(requested).size).toBe(2);
  });
});
