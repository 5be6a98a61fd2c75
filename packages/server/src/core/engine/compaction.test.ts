import { describe, expect, test } from 'bun:test';
import { isDurable, LOCAL, textPart } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says, scriptedProvider } from '../../testing/scripted-provider.ts';
import { quiet } from '../../testing/ticks.ts';
import type { Prompt, Provider } from '../ports/provider.ts';

/** A model that answers from the script; its summaries wait until the test releases them. */
function summarising(answers: Line[][], summaries: (string | null)[] = []) {
  const inner = scriptedProvider(answers);
  const asked: Prompt[] = [];
  const reached = Promise.withResolvers<void>();
  const authenticator = Promise.withResolvers<void>();
  const provider: Provider = {
    ...inner,
    async *stream(prompt, signal) {
      if (prompt.task !== 'compaction') return yield* inner.stream(prompt, signal);
      asked.push(prompt);
      reached.resolve();
      await authenticator.promise;
      const text = summaries.length > 0 ? summaries.shift() : `Summary ${asked.length}`;
      if (text) yield { type: 'text', text };
      if (text !== null) yield { type: 'ended', usage: { inputTokens: 1, outputTokens: 1 }, stop: 'done' };
    },
  };
  return {
    provider,
    prompts: inner.prompts,
    asked,
    reached: reached.promise,
    release: authenticator.resolve,
  };
}

const compact = { type: 'context.compact' } as const;
const LONG = 'word '.repeat(300);

async function talk(answers: Line[][], summaries?: (string | null)[]) {
  const model = summarising(answers, summaries);
  const harness = await createHarness([], { parts: { provider: model.provider } });
  return { ...harness, ...model };
}

describe('compacting on demand', () => {
  test('replaces older turns with a summary and returns the event', async () => {
    const { engine, asked, prompts, release } = await talk([says(LONG), says('Short.'), says('Yes.')]);
    release();
    for (const text of ['One', 'Two']) {
      await say(engine, text);
      await engine.whenIdle(SESSION);
    }
    const { events, seq } = await engine.send(SESSION, compact, CALLER);
    expect(events.map(({ type }) => type)).toEqual(['context.compacted', 'usage.recorded']);
    expect(events.at(-1)?.seq).toBe(seq);
    expect(asked).toHaveLength(1);
    await say(engine, 'Three');
    await engine.whenIdle(SESSION);
    const kinds = prompts.at(-1)?.items.map(({ kind }) => kind);
    expect(kinds).toEqual(['summary', 'user', 'text', 'user']);
  });

  test('is refused while a turn runs, and if there is nothing to compact but a summary', async () => {
    const { engine, release } = await talk([[{ type: 'text', text: 'Wait' }, { type: 'hang' }], says(LONG)]);
    release();
    await expect(engine.send(SESSION, compact, CALLER)).rejects.toMatchObject({ code: 'nothing_to_compact' });
    await say(engine, 'One');
    await quiet();
    await expect(engine.send(SESSION, compact, CALLER)).rejects.toMatchObject({ code: 'busy' });
    await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    await say(engine, 'Two');
    await engine.whenIdle(SESSION);
    await engine.send(SESSION, compact, CALLER);
    await expect(engine.send(SESSION, compact, CALLER)).rejects.toMatchObject({ code: 'nothing_to_compact' });
  });

  test('does not lose an input that arrives while the summary is written', async () => {
    const { engine, prompts, reached, release, store } = await talk([
      says(LONG),
      says('Two.'),
      says('Three.'),
    ]);
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    const compacting = engine.send(SESSION, compact, CALLER);
    await reached;
    await say(engine, 'Two');
    await engine.whenIdle(SESSION);
    release();
    await compacting;
    await say(engine, 'Three');
    await engine.whenIdle(SESSION);
    const kinds = prompts.at(-1)?.items.map(({ kind }) => kind);
    expect(kinds).toEqual(['summary', 'user', 'text', 'user']);
    const reloaded = await createHarness([], { store });
    const use = await reloaded.engine.contextUse(SESSION);
    expect(use).toEqual(await engine.contextUse(SESSION));
  });

  test('does not restore a context that was cleared while the summary was written', async () => {
    const { engine, reached, release } = await talk([says(LONG)]);
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    const compacting = engine.send(SESSION, compact, CALLER);
    await reached;
    await engine.send(SESSION, { type: 'session.clear' }, CALLER);
    release();
    await expect(compacting).rejects.toMatchObject({ code: 'nothing_to_compact' });
    expect((await engine.contextUse(SESSION)).items).toBe(0);
  });

  test('compacts once if requested twice concurrently', async () => {
    const { engine, release, events } = await talk([says(LONG)]);
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    const both = Promise.allSettled([1, 2].map(() => engine.send(SESSION, compact, CALLER)));
    release();
    expect((await both).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(events.filter(({ type }) => type === 'context.compacted')).toHaveLength(1);
  });

  test('leaves the context unchanged if the model returns no summary or an incomplete one', async () => {
    const { engine, release } = await talk([says(LONG)], ['', null]);
    release();
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    const before = await engine.contextUse(SESSION);
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(engine.send(SESSION, compact, CALLER)).rejects.toMatchObject({
        code: 'provider_unavailable',
      });
    expect(await engine.contextUse(SESSION)).toEqual(before);
  });
});

test('a restarted summary contains nothing of the first attempt', async () => {
  const fault = { code: 'provider_unavailable', message: "The model's stream ended early." } as const;
  const { engine } = await createHarness([
    [
      { type: 'text', text: 'Half a ' },
      { type: 'retrying', attempt: 2, delayMs: 0, fault },
      ...says('A whole summary.'),
    ],
  ]);
  const signal = new AbortController().signal;
  expect(await engine.summarise(LOCAL, { title: 'Title', content: 'Text' }, signal)).toBe('A whole summary.');
});

describe('compacting before a step', () => {
  test('runs above the threshold, keeps the running turn complete, and is not repeated', async () => {
    const answers = [
      says(LONG),
      ...[1, 2, 3].map((step) =>
        calls(
          'lookup',
          { word: 'w'.repeat(600) },
          {
            before: [{ type: 'text', text: LONG }],
            call: `call_${step}`,
          },
        ),
      ),
      says('Done.'),
    ];
    const { engine, asked, prompts, release, events } = await talk(answers);
    release();
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    await say(engine, 'Two');
    await engine.whenIdle(SESSION);
    expect(events.filter(isDurable).at(-1)?.type).toBe('turn.ended');
    expect(asked).toHaveLength(1);
    const items = prompts.at(-1)?.items ?? [];
    expect(items[0]?.kind).toBe('summary');
    expect(items[1]).toEqual({ kind: 'user', parts: [textPart('Two')] });
    expect(items.filter(({ kind }) => kind === 'call')).toHaveLength(3);
    expect(items.filter(({ kind }) => kind === 'result')).toHaveLength(3);
  });

  test('ends with its turn: a cancel discards the summary being written', async () => {
    const huge = 'word '.repeat(800);
    const { engine, reached, release, events } = await talk([says(huge)]);
    await say(engine, 'One');
    await engine.whenIdle(SESSION);
    await say(engine, 'Two');
    await reached;
    await engine.send(SESSION, { type: 'turn.cancel' }, CALLER);
    release();
    await engine.whenIdle(SESSION);
    await quiet();
    expect(events.filter(({ type }) => type === 'context.compacted')).toEqual([]);
    // The answer was not used, and was paid for.
    expect(events.filter(isDurable).slice(-2)).toMatchObject([
      { type: 'turn.cancelled' },
      { type: 'usage.recorded', task: 'compaction' },
    ]);
  });
});
