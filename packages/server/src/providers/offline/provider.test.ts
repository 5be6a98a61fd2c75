import { describe, expect, test } from 'bun:test';
import type { Prompt, ProviderEvent } from '../../core/ports/provider.ts';
import { offlineProvider } from './provider.ts';
import { ask, did, hear, promptOf, said, user } from './testing/ask.ts';

const SAMPLES: readonly { name: string; prompt: Prompt }[] = [
  { name: 'a greeting', prompt: promptOf([user('hello')]) },
  { name: 'a call', prompt: promptOf([user('run git status')]) },
  { name: 'a thought', prompt: promptOf([user('think about lighthouses')]) },
  { name: 'a simulated failure', prompt: promptOf([user('fail')]) },
  { name: 'an empty text', prompt: promptOf([user('')]) },
  { name: 'no items at all', prompt: promptOf([]) },
  { name: 'only a summary', prompt: promptOf([{ kind: 'summary', text: 'They talked.' }]) },
  {
    name: 'text in many scripts',
    prompt: promptOf([user('你好,世界 — здравствуй 👩‍👩‍👧 e\u0301 \ud800 שלום')]),
  },
  { name: 'a message of 1 MB', prompt: promptOf([user('word '.repeat(200_000))]) },
  { name: 'a message of 1 MB without a blank', prompt: promptOf([user('x'.repeat(1_000_000))]) },
  { name: 'an empty summary', prompt: promptOf([user('')], [], 'summary') },
  { name: 'an empty explanation', prompt: promptOf([user('')], [], 'explanation') },
  { name: 'an empty compaction', prompt: promptOf([], [], 'compaction') },
  { name: 'a result that nobody asked for', prompt: promptOf([...did('c', 'echo', {}, 'hi')]) },
];

const isLast = (event: ProviderEvent) => event.type === 'ended' || event.type === 'failed';

describe('every stream', () => {
  test.each([...SAMPLES])('ends in exactly one last event and has content: $name', async ({ prompt }) => {
    const { events, text } = await hear(prompt);
    expect(events.filter(isLast)).toHaveLength(1);
    expect(isLast(events.at(-1) as ProviderEvent)).toBe(true);
    expect(text.trim()).not.toBe('');
  });

  test.each([...SAMPLES])('is the same for the same prompt: $name', async ({ prompt }) => {
    expect((await hear(prompt)).events).toEqual((await hear(structuredClone(prompt))).events);
  });

  test.each([...SAMPLES])('has one word with its blanks per delta: $name', async ({ prompt }) => {
    const { events } = await hear(prompt);
    for (const event of events) {
      if (event.type === 'text' || event.type === 'reasoning') expect(event.text).toMatch(/^\S+\s*$/);
    }
  });
});

describe('the provider', () => {
  test('has a name, a model and a limit', () => {
    expect(offlineProvider()).toMatchObject({ name: 'offline', model: 'offline', contextLimit: 128_000 });
  });

  test('estimates its usage as a quarter of the characters', async () => {
    const prompt = promptOf([user('count to 3')]);
    const { last } = await hear(prompt);
    const inputTokens = Math.ceil((prompt.instructions.length + 'count to 3'.length) / 4);
    expect(last).toEqual({ type: 'ended', usage: { inputTokens, outputTokens: 2 }, stop: 'done' });
  });

  test('ends with stop "calls" when it calls', async () => {
    expect((await ask('run ls')).last).toMatchObject({ type: 'ended', stop: 'calls' });
  });

  test('long answers are complete', async () => {
    const { text, events } = await ask('count to 10,000');
    expect(text).toBe(Array.from({ length: 10_000 }, (_, index) => index + 1).join(' '));
    expect(events).toHaveLength(10_001);
  });

  test('ids of calls depend on their position and input', async () => {
    const ids = await Promise.all(
      [
        [user('run ls')],
        [user('run pwd')],
        [user('run ls'), said('done'), user('run ls')],
        [{ kind: 'summary', text: 'old' } as const, user('run ls')],
      ].map(async (items) => (await hear(promptOf(items))).calls[0]?.id),
    );
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{16}$/);
  });

  test('two equal parallel calls have different ids', async () => {
    const { calls } = await ask('run ls and at the same time run ls');
    expect(calls).toHaveLength(2);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
  });
});

describe('an aborted signal', () => {
  const cancelled = { type: 'failed', fault: { code: 'cancelled', message: 'The answer was cancelled.' } };

  test('before the start leaves only the failure', async () => {
    const { events } = await hear(promptOf([user('count to 100')]), AbortSignal.abort());
    expect(events).toEqual([cancelled] as ProviderEvent[]);
  });

  test('in the middle ends the stream with the next event', async () => {
    const controller = new AbortController();
    const events: ProviderEvent[] = [];
    for await (const event of offlineProvider({ delayMs: 0 }).stream(
      promptOf([user('count to 10000')]),
      controller.signal,
    )) {
      events.push(event);
      if (events.length === 5) controller.abort();
    }
    expect(events).toHaveLength(6);
    expect(events.at(-1)).toEqual(cancelled as ProviderEvent);
  });

  test('does not wait for the delay between two words', async () => {
    const controller = new AbortController();
    const aDay = 86_400_000;
    const stream = offlineProvider({ delayMs: aDay }).stream(
      promptOf([user('count to 3')]),
      controller.signal,
    );
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: 'text', text: '1 ' });
    const next = events.next();
    controller.abort();
    expect((await next).value).toEqual(cancelled);
    expect((await events.next()).done).toBe(true);
  });
});
