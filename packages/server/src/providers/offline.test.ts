import { describe, expect, test } from 'bun:test';
import type { Prompt, PromptItem, ProviderEvent } from '../core/ports/provider.ts';
import { offlineProvider } from './offline.ts';

const user = (text: string): PromptItem => ({ kind: 'user', parts: [{ type: 'text', text }] });
const promptOf = (...items: PromptItem[]): Prompt => ({
  task: 'chat',
  instructions: 'You are Parlance.',
  items,
  tools: [{ name: 'shell', description: '', parameters: {} }],
});

const hear = (prompt: Prompt, signal = new AbortController().signal): Promise<ProviderEvent[]> =>
  Array.fromAsync(offlineProvider({ delayMs: 0 }).stream(prompt, signal));

const SAMPLES: readonly [name: string, prompt: Prompt][] = [
  ['a greeting', promptOf(user('hello'))],
  ['a call', promptOf(user('run git status'))],
  ['a thought', promptOf(user('think about lighthouses'))],
  ['a simulated failure', promptOf(user('fail'))],
  ['an empty text', promptOf(user(''))],
  ['no items at all', promptOf()],
  ['only a summary', promptOf({ kind: 'summary', text: 'They talked.' })],
  ['text in many scripts', promptOf(user('你好,世界 — здравствуй 👩‍👩‍👧 e\u0301 \ud800 שלום'))],
  ['a message of 1 MB', promptOf(user('word '.repeat(200_000)))],
  ['a message of 1 MB without a blank', promptOf(user('x'.repeat(1_000_000)))],
  ['an empty summary', { ...promptOf(user('')), task: 'summary' }],
  ['an empty explanation', { ...promptOf(user('')), task: 'explanation' }],
  ['an empty compaction', { ...promptOf(), task: 'compaction' }],
];

const isLast = ({ type }: ProviderEvent) => type === 'ended' || type === 'failed';

describe.each([...SAMPLES])('the stream of %s', (_name, prompt) => {
  test('has one word per delta, and exactly one last event', async () => {
    const events = await hear(prompt);
    expect(events.length).toBeGreaterThan(1);
    expect(events.findIndex(isLast)).toBe(events.length - 1);
    for (const event of events)
      if (event.type === 'text' || event.type === 'reasoning') expect(event.text).toMatch(/^\S+\s*$/);
  });

  test('is the same for the same prompt', async () => {
    expect(await hear(prompt)).toEqual(await hear(structuredClone(prompt)));
  });
});

test('usage is estimated as a quarter of the characters', async () => {
  const prompt = promptOf(user('count to 3'));
  const inputTokens = Math.ceil((prompt.instructions.length + 'count to 3'.length) / 4);
  expect((await hear(prompt)).at(-1)).toEqual({
    type: 'ended',
    usage: { inputTokens, outputTokens: 2 },
    stop: 'done',
  });
});

test('ids of calls depend on their position and input', async () => {
  const idsIn = async (...items: PromptItem[]) =>
    (await hear(promptOf(...items))).flatMap((event) => (event.type === 'call' ? [event.call] : []));
  const ids = [
    ...(await idsIn(user('run ls'))),
    ...(await idsIn(user('run pwd'))),
    ...(await idsIn(user('run ls'), { kind: 'text', text: 'done' }, user('run ls'))),
    ...(await idsIn(user('run date and at the same time run date'))),
  ];
  expect(ids).toHaveLength(5);
  expect(new Set(ids).size).toBe(5);
  for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{16}$/);
});

describe('an aborted signal', () => {
  const cancelled: ProviderEvent = {
    type: 'failed',
    fault: { code: 'cancelled', message: 'The answer was cancelled.' },
  };

  test('before the start leaves only the failure', async () => {
    expect(await hear(promptOf(user('count to 100')), AbortSignal.abort())).toEqual([cancelled]);
  });

  test('in the middle ends the stream with the next event', async () => {
    const controller = new AbortController();
    const events: ProviderEvent[] = [];
    const prompt = promptOf(user('count to 10000'));
    for await (const event of offlineProvider({ delayMs: 0 }).stream(prompt, controller.signal)) {
      events.push(event);
      if (events.length === 5) controller.abort();
    }
    expect(events).toHaveLength(6);
    expect(events.at(-1)).toEqual(cancelled);
  });

  test('does not wait for the delay between two words', async () => {
    const controller = new AbortController();
    const aDay = 86_400_000;
    const stream = offlineProvider({ delayMs: aDay }).stream(promptOf(user('count to 3')), controller.signal);
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: 'text', text: '1 ' });
    const next = events.next();
    controller.abort();
    expect((await next).value).toEqual(cancelled);
    expect((await events.next()).done).toBe(true);
  });
});
