import { describe, expect, test } from 'bun:test';
import { call, messages, result, sent, thought, tool, user } from '../testing/providers/anthropic-request.ts';
import { anthropic } from './anthropic.ts';

describe('thinking', () => {
  test('is returned unchanged, before the calls it led to', () => {
    const [, answer] = messages([
      user('a'),
      thought('Hm.', { signature: 'c2ln' }),
      thought('', { redacted: 'cmVk' }),
      { kind: 'text', text: 'Wait.' },
      thought('', { signature: 'ZW1wdHk=' }),
      call('1'),
      result('1'),
    ]);
    expect(answer?.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'text', text: 'Wait.' },
      { type: 'thinking', thinking: '', signature: 'ZW1wdHk=' },
      { type: 'tool_use', id: '1', name: 'look', input: { at: '1' } },
    ]);
  });

  test('of another vendor, without a signature, or without a result is left out', () => {
    const written = messages([
      user('a'),
      thought('Hm.', { signature: 'x' }, 'google'),
      { kind: 'reasoning', text: 'Unsigned.' },
      { kind: 'text', text: 'Yes.' },
      thought('Later.', { signature: 'c2ln' }),
      user('b'),
    ]);
    expect(written[1]?.content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });

  test.each([
    ['claude-opus-4-7', { type: 'adaptive', display: 'summarized' }],
    ['claude-sonnet-5-20260901', { type: 'adaptive', display: 'summarized' }],
    ['claude-haiku-4-5-20251001', undefined],
    ['claude-3-7-sonnet-20250219', undefined],
    ['some-other-model', undefined],
  ])('%s thinks by its name', (model, thinking) => {
    expect(sent([user('a')], {}, { model }).thinking).toEqual(thinking);
    expect(sent([user('a')], { task: 'summary' }, { model }).thinking).toBeUndefined();
  });

  test('with a budget leaves room for the answer', () => {
    const body = sent([user('a')], {}, { thinking: { budgetTokens: 4_000 }, maxTokens: 4_000 });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 4_000 });
    expect(body.max_tokens).toBe(8_000);
  });

  test('with a budget is turned off for an answer that did not begin with thinking', () => {
    const options = { thinking: { budgetTokens: 2_000 } };
    expect(sent([user('a'), call('1'), result('1')], {}, options).thinking).toBeUndefined();
    const own = [user('a'), thought('Hm.', { signature: 's' }), call('1'), result('1')];
    expect(sent(own, {}, options).thinking).toBeDefined();
  });

  test('the plain form has neither thinking nor cache markers', () => {
    const api = anthropic({ key: 'k', model: 'claude-opus-4-7' });
    const items = [
      user('a'),
      thought('Hm.', { signature: 's' }),
      { kind: 'text', text: 'b' },
      user('c'),
    ] as const;
    const plain = JSON.stringify(
      api.request({ task: 'chat', instructions: 'i', items, tools: [tool] }, true).body,
    );
    expect(plain).not.toMatch(/thinking|signature|cache_control/);
  });
});

describe('the cache', () => {
  const marks = (value: unknown): string[] =>
    JSON.stringify(value).match(/"cache_control":\{"type":"ephemeral"\}/g) ?? [];

  test('is marked after tools, instructions and the last two user messages', () => {
    const body = sent([user('a'), { kind: 'text', text: 'A' }, user('b'), call('1'), result('1')]);
    expect(marks(body)).toHaveLength(4);
    expect(marks(body.tools.at(-1))).toHaveLength(1);
    expect(marks(body.system.at(-1))).toHaveLength(1);
    expect(body.messages.map((message) => marks(message.content.at(-1)).length)).toEqual([0, 0, 1, 0, 1]);
  });

  test('is not written for a single question', () => {
    expect(marks(sent([user('a')], { task: 'explanation' }))).toEqual([]);
  });

  test('the prefix stays the same when the conversation continues', () => {
    const plain = (value: unknown) =>
      JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const items = [user('a'), call('1'), result('1')];
    const before = plain(sent(items).messages).slice(0, -1);
    const after = plain(sent([...items, { kind: 'text', text: 'Done.' }, user('b')]).messages);
    expect(after.startsWith(before)).toBe(true);
  });
});
