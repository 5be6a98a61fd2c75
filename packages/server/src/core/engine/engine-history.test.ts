import { describe, expect, test } from 'bun:test';
import { type CallId, type CommandInput, type HistoryItem, isDurable, textPart } from '@parlance/protocol';
import { brief } from '../../testing/context-events.ts';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { says, scriptedProvider } from '../../testing/scripted-provider.ts';

const user = (text: string, key?: string): HistoryItem => ({ type: 'user', parts: [textPart(text)], key });
const text = (words: string): HistoryItem => ({ type: 'text', text: words });
const call = (id: string): HistoryItem => ({ type: 'call', call: id as CallId, tool: 'lookup', input: {} });
const result = (id: string): HistoryItem => ({
  type: 'result',
  call: id as CallId,
  parts: [textPart(`of ${id}`)],
});
const create = (history: HistoryItem[]): CommandInput => ({ type: 'session.create', history });

const RIVERS = [
  user('Name two rivers'),
  { type: 'reasoning', text: 'Two.' } as const,
  call('a'),
  call('b'),
  result('b'),
  result('a'),
  text('Rhine and Rhone.'),
  user('And a third?'),
  text('Danube.'),
];

describe('a session with imported history', () => {
  test('calls no model on import, and includes the whole conversation in the next prompt', async () => {
    const { engine, provider } = await createHarness([says('Elbe.')]);
    await engine.send(SESSION, create(RIVERS), CALLER);
    await engine.whenIdle(SESSION);
    expect(provider.prompts).toHaveLength(0);
    await say(engine, 'A fourth?');
    await engine.whenIdle(SESSION);
    expect(provider.prompts[0]?.items.map(brief)).toEqual([
      'user Name two rivers',
      'reasoning Two.',
      'call a',
      'call b',
      'result of a',
      'result of b',
      'text Rhine and Rhone.',
      'user And a third?',
      'text Danube.',
      'user A fourth?',
    ]);
  });

  test('continues from trailing results without another message', async () => {
    const { engine, provider } = await createHarness([says('Rhine and Rhone.')]);
    const go: CommandInput = { type: 'input.submit', parts: [], continues: true };
    await expect(engine.send(SESSION, go, CALLER)).rejects.toThrow('The message is empty.');
    await engine.send(SESSION, create(RIVERS.slice(0, 6)), CALLER);
    await engine.send(SESSION, go, CALLER);
    await engine.whenIdle(SESSION);
    expect(provider.prompts[0]?.items.map(brief)).toEqual([
      'user Name two rivers',
      'reasoning Two.',
      'call a',
      'call b',
      'result of a',
      'result of b',
    ]);
  });

  test('has one event per user message, and a message count and title in lists', async () => {
    const { engine, events } = await createHarness([]);
    await engine.send(SESSION, create([text('Welcome.'), ...RIVERS]), CALLER);
    const imported = events.flatMap((event) => (event.type === 'history.imported' ? [event] : []));
    expect(imported.map(({ items, dialect }) => [items.length, dialect])).toEqual([
      [1, 'native'],
      [7, 'native'],
      [2, 'native'],
    ]);
    expect(imported.map(({ input }) => input !== undefined)).toEqual([false, true, true]);
    expect(new Set(imported.map(({ input }) => input)).size).toBe(3);
    expect(await engine.record(SESSION)).toMatchObject({
      messageCount: 5,
      title: 'Name two rivers',
      firstInput: 'Name two rivers',
      status: 'idle',
    });
  });

  test('keeps it in another process', async () => {
    const first = await createHarness([]);
    await first.engine.send(SESSION, create(RIVERS), CALLER);
    const second = await createHarness([says('Elbe.')], { store: first.store });
    await say(second.engine, 'A fourth?');
    await second.engine.whenIdle(SESSION);
    expect(second.provider.prompts[0]?.items).toHaveLength(RIVERS.length + 1);
  });

  test('can be rewound to one of its messages', async () => {
    const { engine, events, provider } = await createHarness([says('Elbe.')]);
    await engine.send(SESSION, create(RIVERS), CALLER);
    const [, second] = events.flatMap((event) => (event.type === 'history.imported' ? [event.input] : []));
    const parts = [textPart('And a lake?')];
    await engine.send(SESSION, { type: 'input.submit', parts, replaces: second }, CALLER);
    await engine.whenIdle(SESSION);
    expect(provider.prompts[0]?.items.slice(-2).map(brief)).toEqual([
      'text Rhine and Rhone.',
      'user And a lake?',
    ]);
  });

  test('accepts each imported message only once', async () => {
    const { engine, events } = await createHarness([]);
    await engine.send(SESSION, create([user('Hi', 'message-1'), text('Hello.')]), CALLER);
    const submit: CommandInput = { type: 'input.submit', parts: [textPart('Hi')] };
    const { events: accepted } = await engine.send(SESSION, submit, { ...CALLER, key: 'message-1' });
    expect(accepted).toEqual([]);
    expect(events.filter(isDurable)).toHaveLength(2);
  });

  test('compacts its older part', async () => {
    const long = 'word '.repeat(400);
    const history = [1, 2, 3, 4].flatMap((n) => [user(`question ${n}`), text(`${long}${n}`)]);
    const provider = { ...scriptedProvider([says('They asked.'), says('Done.')]), contextLimit: 2_000 };
    const { engine, events } = await createHarness([], { parts: { provider } });
    await engine.send(SESSION, create(history), CALLER);
    await say(engine, 'And now?');
    await engine.whenIdle(SESSION);
    expect(events.some(({ type }) => type === 'context.compacted')).toBe(true);
    const items = provider.prompts.at(-1)?.items.map(brief) ?? [];
    expect(items[0]).toBe('summary They asked.');
    expect(items).toContain('user question 4');
    expect(items).not.toContain('user question 1');
  });

  test('is not changed by a second import', async () => {
    const { engine, events } = await createHarness([says('Hello.')]);
    await say(engine, 'Hi');
    await engine.whenIdle(SESSION);
    const before = events.length;
    const receipt = await engine.send(SESSION, create(RIVERS), CALLER);
    expect(receipt.events).toEqual([]);
    expect(events).toHaveLength(before);
  });

  test('is not created if the history is invalid', async () => {
    const { engine } = await createHarness([]);
    for (const history of [[result('a')], [call('a')], [user('Hi'), call('a'), user('More')]]) {
      await expect(engine.send(SESSION, create(history), CALLER)).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(/^history\.\d+: the call a /),
      });
      expect(await engine.record(SESSION)).toBeNull();
    }
  });
});
