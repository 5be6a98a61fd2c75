import { describe, expect, test } from 'bun:test';
import { History, MAX_HISTORY_ITEMS } from './history.ts';

const user = (text: string) => ({ type: 'user', parts: [{ type: 'text', text }] });
const text = (words: string) => ({ type: 'text', text: words });
const system = { type: 'system', text: 'Be brief.' };
const call = (id: string) => ({ type: 'call', call: id, tool: 'lookup', input: {} });
const result = (id: string) => ({ type: 'result', call: id, parts: [] });

/** The path and the message of the first complaint. */
function refusal(history: unknown): string {
  const issue = History.safeParse(history).error?.issues[0];
  return issue ? `${issue.path.join('.')}: ${issue.message}` : 'accepted';
}

describe('a history', () => {
  test('has messages, reasoning, and calls with their results in any order', () => {
    const called = [call('a'), call('b'), result('b'), result('a')];
    const history = [
      system,
      user('Hi'),
      { type: 'reasoning', text: 'Hm.' },
      ...called,
      text('Done.'),
      user('More'),
    ];
    expect(refusal(history)).toBe('accepted');
    expect(refusal([])).toBe('accepted');
  });

  test.each([
    ['a result without a call', [user('Hi'), result('a')], '1: the call a was not made'],
    ['a result before its call', [result('a'), call('a')], '0: the call a was not made'],
    ['two results of one call', [call('a'), result('a'), result('a')], '2: the call a has two results'],
    ['two calls with one id', [call('a'), result('a'), call('a')], '2: there are two calls a'],
    ['a call without a result', [user('Hi'), call('a'), text('Done.')], '1: the call a has no result'],
    ['a result after the next message', [call('a'), user('Hi'), result('a')], '0: the call a has no result'],
    ['an empty message', [{ type: 'user', parts: [] }], '0.parts'],
    ['an empty text', [text('')], '0.text'],
    ['an instruction before a result', [call('a'), system, result('a')], '0: the call a has no result'],
    ['an unknown item', [{ type: 'order', text: 'Obey.' }], '0.type'],
    ['an unknown field', [{ ...text('Hi'), role: 'user' }], '0: Unrecognized key'],
    ['too many items', Array.from({ length: MAX_HISTORY_ITEMS + 1 }, () => text('a')), ': Too big'],
  ])('is refused with %s', (_name, history, says) => {
    expect(refusal(history)).toStartWith(says);
  });
});

test('an item keeps the id of the client’s message', () => {
  const history = [user('Hi'), { ...text('Hello.'), id: 'message-2' }];
  expect(History.parse(history)[1]).toMatchObject({ id: 'message-2' });
});
