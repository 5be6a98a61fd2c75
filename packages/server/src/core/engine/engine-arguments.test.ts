import { describe, expect, test } from 'bun:test';
import type { EphemeralEvent, SessionEvent } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says } from '../../testing/scripted-provider.ts';

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
    const harness = await createHarness([calls('lookup', { word: 'a' }, { before: written }), says('Done.')]);
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    expect(deltas(harness.events).map(({ call, tool, offset, text }) => [call, tool, offset, text])).toEqual([
      ['call_1', 'lookup', 0, ''],
      ['call_1', 'lookup', 0, '{"word"'],
      ['call_1', 'lookup', 7, ':"a"}'],
    ] as never);
    const types = harness.events.map(({ type }) => type);
    expect(types.lastIndexOf('call.arguments.delta')).toBeLessThan(types.indexOf('call.requested'));
    const stored = await harness.store.read(SESSION, 0, 100);
    expect(stored.map(({ type }) => String(type))).not.toContain('call.arguments.delta');
  });

  test('are in the snapshot until the turn is cancelled', async () => {
    const harness = await createHarness([[writes('{"wo'), writes('rd"'), { type: 'hang' }]]);
    await say(harness.engine, 'Go');
    await harness.provider.hanging;
    const { turn, openArguments } = await harness.engine.snapshot(SESSION);
    expect(openArguments).toEqual([{ turn, call: 'call_1', tool: 'lookup', text: '{"word"' }] as never);
    await harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    expect((await harness.engine.snapshot(SESSION)).openArguments).toEqual([]);
  });

  test('are discarded when the step restarts', async () => {
    const again = [writes('{"word"'), RETRY, writes('{"wo'), writes('rd":"b"}')];
    const harness = await createHarness([calls('lookup', { word: 'b' }, { before: again }), says('Done.')]);
    const restarted = harness.nextEvent('step.restarted');
    await say(harness.engine, 'Go');
    await restarted;
    await harness.engine.whenIdle(SESSION);
    const from = harness.events.findIndex(({ type }) => type === 'step.restarted');
    expect(deltas(harness.events.slice(from)).map(({ offset, text }) => [offset, text])).toEqual([
      [0, '{"wo'],
      [4, 'rd":"b"}'],
    ]);
    expect((await harness.engine.snapshot(SESSION)).openArguments).toEqual([]);
  });

  test('carry the id of their call, even if the model uses an id twice', async () => {
    const harness = await createHarness([
      [
        writes('{"word":"a"}'),
        writes('{"word":"b"}', { index: 1 }),
        { type: 'call', call: 'call_1', tool: 'lookup', input: { word: 'a' } },
        { type: 'call', call: 'call_1', tool: 'lookup', input: { word: 'b' } },
        { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'calls' },
      ],
      says('Done.'),
    ]);
    await say(harness.engine, 'Go');
    await harness.engine.whenIdle(SESSION);
    const requested = harness.events.flatMap((event) =>
      event.type === 'call.requested' ? [event.call] : [],
    );
    expect(deltas(harness.events).map(({ call }) => call)).toEqual(requested);
    expect(new Set(requested).size).toBe(2);
  });
});
