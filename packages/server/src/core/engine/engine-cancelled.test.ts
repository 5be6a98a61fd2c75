import { describe, expect, test } from 'bun:test';
import { type Ask, type CommandInput, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, says, scriptedProvider, USAGE } from '../../testing/scripted-provider.ts';
import { quiet } from '../../testing/ticks.ts';
import type { Provider, ProviderEvent } from '../ports/provider.ts';
import { defineTool } from '../ports/tool.ts';

describe('a call cancelled while its approval is being determined', () => {
  /** A tool that determines its approval late, and records whether it ran. */
  function lateTool() {
    const reached = Promise.withResolvers<void>();
    const verdict = Promise.withResolvers<Ask | null>();
    const runs: string[] = [];
    const tool = defineTool({
      name: 'late',
      description: 'Deletes something.',
      input: z.object({}),
      approval: () => {
        reached.resolve();
        return verdict.promise;
      },
      run: async (_input, { call }) => {
        runs.push(call);
        return { parts: [textPart('deleted')] };
      },
    });
    return { tool, reached: reached.promise, allow: () => verdict.resolve(null), runs };
  }

  const CANCELS: Record<string, CommandInput> = {
    cancel: { type: 'turn.cancel' },
    'newer message': { type: 'input.submit', parts: [textPart('Instead')], mode: 'supersede' },
    clear: { type: 'session.clear' },
  };
  for (const [name, command] of Object.entries(CANCELS)) {
    test(`is neither started nor run: ${name}`, async () => {
      const { tool, reached, allow, runs } = lateTool();
      const harness = await createHarness([calls('late', {}), says('Then not.')], { tools: [tool] });
      await say(harness.engine, 'Delete it');
      await reached;
      await harness.engine.send(SESSION, command, CALLER);
      allow();
      await harness.engine.whenIdle(SESSION);
      await quiet();
      expect(runs).toEqual([]);
      expect(harness.events.map(({ type }) => type)).not.toContain('tool.started');
      const count = (type: string) => harness.events.filter((event) => event.type === type).length;
      expect(count('tool.ended')).toBe(count('call.requested'));
    });
  }
});

/** A model controlled by the test: it emits events, or offers deltas on the token path. */
function dictated() {
  const asked = Promise.withResolvers<(text: string) => boolean>();
  const events: ProviderEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const provider: Provider = {
    ...scriptedProvider([]),
    async *stream(_prompt, _signal, take) {
      asked.resolve((text) => take?.('text', text) ?? false);
      for (;;) {
        for (const event of events.splice(0)) yield event;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    },
  };
  return {
    provider,
    /** resolves with a function that offers deltas, once the model is called */
    asked: asked.promise,
    yields(...more: ProviderEvent[]) {
      events.push(...more);
      wake.resolve();
    },
  };
}

describe('after a cancel is decided but before it is recorded', () => {
  /** A turn that has streamed "Half", and whose cancel waits for the disk. */
  async function cancelling() {
    const store = controlledStore();
    const model = dictated();
    const harness = await createHarness([], { store, parts: { provider: model.provider } });
    const shown = harness.nextEvent('text.delta');
    await say(harness.engine, 'Go');
    const offer = await model.asked;
    model.yields({ type: 'text', text: 'Half' });
    await shown;
    const held = store.hold('before');
    const cancelled = harness.engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await held.reached;
    const finish = async () => {
      await quiet();
      held.release();
      await cancelled;
      await quiet();
      const deltas = harness.events.flatMap((event) => (event.type === 'text.delta' ? [event.text] : []));
      const ended = harness.events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
      return { deltas, ended };
    };
    return { model, offer, finish };
  }

  test('deltas are rejected and not published', async () => {
    const { offer, finish } = await cancelling();
    expect(offer(' more')).toBe(false);
    expect(await finish()).toEqual({ deltas: ['Half'], ended: ['Half'] });
  });

  test.each<[string, ProviderEvent]>([
    ['text', { type: 'text', text: ' more' }],
    ['the beginning of another block', { type: 'reasoning', text: 'Hm.' }],
    ['the end of the answer', { type: 'ended', usage: USAGE, stop: 'done' }],
  ])('drops %s', async (_, event) => {
    const { model, finish } = await cancelling();
    model.yields(event);
    expect(await finish()).toEqual({ deltas: ['Half'], ended: ['Half'] });
  });
});

test('discards the output of a step that is repeated after a compaction', async () => {
  const tooLong: ProviderEvent = {
    type: 'failed',
    fault: { code: 'context_too_long', message: 'The prompt is too long.' },
  };
  const harness = await createHarness([
    says('First answer.'),
    [{ type: 'text', text: 'Half ' }, tooLong],
    says('A summary.'),
    says('Whole.'),
  ]);
  await say(harness.engine, 'First');
  await harness.engine.whenIdle(SESSION);
  await say(harness.engine, 'Second');
  await harness.engine.whenIdle(SESSION);
  const texts = harness.events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
  expect(texts).toEqual(['First answer.', 'Whole.']);
  const blocks = harness.events.flatMap((event) => (event.type === 'text.delta' ? [event.block] : []));
  expect(new Set(blocks).size).toBe(3);
});
