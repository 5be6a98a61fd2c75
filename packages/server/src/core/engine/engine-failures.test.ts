import { describe, expect, test } from 'bun:test';
import { type DurableEvent, isDurable, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { controlledStore } from '../../testing/controlled-store.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, says, USAGE } from '../../testing/scripted-provider.ts';
import { quiet } from '../../testing/ticks.ts';
import { defineTool, type Tool, type ToolResult } from '../ports/tool.ts';

const NEVER = 2 ** 31 - 1;
const ignore = () => undefined;
/** For tests that make things fail: their errors are expected. */
const quietLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const tool = (name: string, run: Tool['run'], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: name, input: z.object({}), approval: () => null, run, ...more });

const endOf = (events: readonly unknown[]): DurableEvent<'tool.ended'> | undefined =>
  (events as DurableEvent[]).find((event) => event.type === 'tool.ended') as
    | DurableEvent<'tool.ended'>
    | undefined;

describe('a store that fails', () => {
  test('once: the caller gets an error, nothing has changed, and the session continues', async () => {
    const store = controlledStore();
    const { engine, events } = await createHarness([says('Hello.')], { store, parts: { log: quietLog } });
    store.fail(1);
    await expect(say(engine, 'Lost')).rejects.toThrow('the disk is full');
    expect(events).toEqual([]);
    expect(await engine.snapshot(SESSION)).toMatchObject({ seq: 0, created: null, turn: null, queued: 0 });
    await say(engine, 'Kept');
    await engine.whenIdle(SESSION);
    const durableEvents = await store.read(SESSION, 0, 100);
    expect(
      durableEvents.flatMap((durable) => (durable.type === 'input.accepted' ? [durable.parts] : [])),
    ).toEqual([[textPart('Kept')]]);
    expect(durableEvents.map(({ seq }) => seq)).toEqual(durableEvents.map((_, index) => index + 1));
  });

  test('once, inside a turn: the turn fails with a reason, and the next one is answered', async () => {
    const store = controlledStore();
    const answers = [says('Lost.'), says('Hello.')];
    const { engine, nextEvent, events } = await createHarness(answers, { store, parts: { log: quietLog } });
    store.fail(1, 'turn.ended');
    const failed = nextEvent('turn.failed');
    await say(engine, 'Hi');
    expect((await failed).fault).toEqual({ code: 'internal', message: 'Something went wrong.' });
    expect(events.find(({ type }) => type === 'text.ended')).toMatchObject({
      text: 'Lost.',
      interrupted: true,
    });
    await say(engine, 'Again');
    await engine.whenIdle(SESSION);
    expect((await engine.record(SESSION))?.status).toBe('idle');
  });

  test('after a side effect: the outcome is unknown, and the effect is not repeated', async () => {
    const store = controlledStore();
    let runs = 0;
    const effect = tool('effect', async () => {
      runs++;
      store.fail(1);
      return { parts: [textPart('done')] };
    });
    const answers = [calls('effect', {}), says('Next.')];
    const { engine, nextEvent, events } = await createHarness(answers, {
      store,
      tools: [effect],
      parts: { log: quietLog },
    });
    const failed = nextEvent('turn.failed');
    await say(engine, 'Do it');
    await failed;
    await engine.whenIdle(SESSION);
    expect(runs).toBe(1);
    expect(endOf(events)?.outcome).toBe('unknown');
  });

  test('permanently: the session backs off instead of calling the model repeatedly', async () => {
    const store = controlledStore();
    const answers = Array.from({ length: 10 }, () => says('Hello.'));
    const { engine, nextEvent, provider } = await createHarness(answers, {
      store,
      parts: { log: quietLog, retryDelayMs: () => NEVER },
    });
    const delta = nextEvent('text.delta');
    await say(engine, 'Hi');
    store.fail(Number.POSITIVE_INFINITY);
    await delta;
    for (let round = 0; round < 20; round++) await quiet();
    expect(provider.prompts.length).toBe(1);
    expect(store.appends()).toBeLessThan(5);
    await expect(say(engine, 'Still there?')).rejects.toThrow('the disk is full');

    store.fail(0);
    await say(engine, 'Are you back?');
    await engine.whenIdle(SESSION);
    const durableEvents = await store.read(SESSION, 0, 100);
    expect(durableEvents.filter(({ type }) => type === 'turn.ended')).toHaveLength(2);
    expect(durableEvents.map(({ seq }) => seq)).toEqual(durableEvents.map((_, index) => index + 1));
    await engine.drain(0);
  });

  test('temporarily: the session continues when the store is back', async () => {
    const store = controlledStore();
    const rests: number[] = [];
    const { engine, nextEvent, events, provider } = await createHarness(
      Array.from({ length: 5 }, () => says('Hello.')),
      {
        store,
        parts: {
          log: quietLog,
          retryDelayMs: (failures) => {
            rests.push(failures);
            return 0;
          },
        },
      },
    );
    const ended = nextEvent('turn.ended');
    const delta = nextEvent('text.delta');
    await say(engine, 'Hi');
    store.fail(6);
    await delta;
    await ended;
    expect(rests).toEqual([1, 2, 3, 4, 5]);
    // The model is not called while the store is unavailable; then subscribers learn that the streamed output
    // is discarded.
    expect(provider.prompts).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'step.restarted')).toHaveLength(1);
    const blocks = events.flatMap((event) => (event.type === 'text.ended' ? [event.text] : []));
    expect(blocks).toEqual(['Hello.']);
  });
});

describe('an event that could not be read back', () => {
  test('is never written: the turn fails and the session stays readable', async () => {
    const broken = tool('broken_image', async () => ({
      parts: [{ type: 'image', mime: 'image/png', data: 'not base64!' }],
    }));
    const answers = [
      calls('broken_image', {}),
      [{ type: 'ended', usage: USAGE, stop: 'unknown' as 'done' } as const],
    ];
    const { engine, store } = await createHarness(answers, { tools: [broken], parts: { log: quietLog } });
    for (const text of ['Show it', 'And again']) {
      await say(engine, text);
      await engine.whenIdle(SESSION);
      expect((await engine.record(SESSION))?.status).toBe('failed');
    }
    const again = await createHarness([says('Fine.')], { store });
    await say(again.engine, 'Still there?');
    await again.engine.whenIdle(SESSION);
    expect((await again.engine.record(SESSION))?.status).toBe('idle');
  });
});

describe('a tool', () => {
  /** The outcome of one call, as reported to the model. */
  async function outcomeOf(name: string, input: object, tools: Tool[] = []) {
    const { engine, events, provider } = await createHarness([calls(name, input), says('I see.')], {
      tools,
      parts: { log: quietLog },
    });
    await say(engine, 'Do it');
    await engine.whenIdle(SESSION);
    expect((await engine.record(SESSION))?.status).toBe('idle');
    const reported = provider.prompts[1]?.items.at(-1);
    const ended = endOf(events);
    expect(reported).toMatchObject({ kind: 'result', parts: ended?.parts ?? [] });
    return { outcome: ended?.outcome, parts: ended?.parts, data: ended?.data, events };
  }

  test('that does not exist fails its call, and the model receives the error', async () => {
    expect(await outcomeOf('nothing', {})).toMatchObject({
      outcome: 'failed',
      parts: [textPart('Unknown tool: nothing')],
    });
  });

  test('with invalid input fails its call and names the wrong field', async () => {
    const { outcome, parts } = await outcomeOf('lookup', { word: 7 });
    expect(outcome).toBe('failed');
    expect(parts).toEqual([
      textPart('Invalid parameters for lookup: word: Invalid input: expected string, received number'),
    ]);
  });

  test('that throws reveals nothing of the error', async () => {
    expect(await outcomeOf('broken', {})).toMatchObject({
      outcome: 'failed',
      parts: [textPart('Something went wrong.')],
    });
  });

  test('whose approval cannot be described fails its call, not the turn', async () => {
    const shy = tool('shy', async () => ({ parts: [] }), {
      approval: () => {
        throw new Error('no such file');
      },
    });
    expect(await outcomeOf('shy', {}, [shy])).toMatchObject({ outcome: 'failed' });
  });

  test('with a megabyte of output is cut in the middle, in the log and in the prompt', async () => {
    const loud = tool('loud', async (): Promise<ToolResult> => {
      const text = `begin${'🙂'.repeat(250_000)}end`;
      return { parts: [textPart(text), textPart(text)], data: { output: text, exit_code: 0 } };
    });
    const { parts = [], data } = await outcomeOf('loud', {}, [loud]);
    const size = JSON.stringify(parts).length + JSON.stringify(data).length;
    expect(size).toBeLessThan(250_000);
    const [first] = parts;
    if (first?.type !== 'text') return expect.unreachable();
    expect(first.text).toStartWith('begin');
    expect(first.text).toEndWith('end');
    expect(first.text).toContain('characters left out');
    expect(first.text.isWellFormed()).toBe(true);
    expect(data?.exit_code).toBe(0);
  });

  test('with data that cannot be shortened drops the data, not the text', async () => {
    const rows = Array.from({ length: 50_000 }, (_, index) => index);
    const wide = tool('wide', async () => ({ parts: [textPart('50000 rows')], data: { rows } }));
    const { parts, data } = await outcomeOf('wide', {}, [wide]);
    expect(parts).toEqual([textPart('50000 rows')]);
    expect(data).toBeUndefined();
  });

  test('that ignores the abort does not block the session', async () => {
    const begun = Promise.withResolvers<void>();
    const deaf = tool('deaf', () => {
      begun.resolve();
      return new Promise(() => undefined);
    });
    const { engine, events } = await createHarness([calls('deaf', {}), says('Next.')], { tools: [deaf] });
    await say(engine, 'Do it');
    await begun.promise;
    await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await say(engine, 'And now?');
    await engine.whenIdle(SESSION);
    expect(endOf(events)).toMatchObject({ outcome: 'unknown', interrupted: true });
    expect(events.filter(isDurable).at(-1)?.type).toBe('turn.ended');
  });

  test('called twice with the same id in one answer runs twice and has two results', async () => {
    const twice = [
      { type: 'call', call: 'same', tool: 'lookup', input: { word: 'a' } } as const,
      { type: 'call', call: 'same', tool: 'lookup', input: { word: 'b' } } as const,
      { type: 'ended', usage: USAGE, stop: 'calls' } as const,
    ];
    const { engine, events, provider } = await createHarness([twice, says('Both.')]);
    await say(engine, 'Look up a and b');
    await engine.whenIdle(SESSION);
    const ended = events.flatMap((event) => (event.type === 'tool.ended' ? [event.parts] : []));
    expect(ended).toEqual([[textPart('a: a word')], [textPart('b: a word')]]);
    const items = provider.prompts[1]?.items ?? [];
    expect(items.map(({ kind }) => kind)).toEqual(['user', 'call', 'call', 'result', 'result']);
  });
});
