import { expect, test } from 'bun:test';
import { type CallId, type HistoryItem, textPart } from '@parlance/protocol';
import { importable } from './history.ts';
import { conversationDigest } from './request-keys.ts';

const user = (text: string): HistoryItem => ({ type: 'user', parts: [textPart(text)] });
const call = (id: string, input = {}): HistoryItem => ({
  type: 'call',
  call: id as CallId,
  tool: 'look',
  input,
});
const result = (id: string): HistoryItem => ({
  type: 'result',
  call: id as CallId,
  parts: [textPart('seen')],
});

const brief = (item: HistoryItem): string => ('call' in item ? `${item.type} ${item.call}` : item.type);

test('a call without a result is closed before the next message of the user', () => {
  expect(importable([user('a'), call('1'), user('b'), call('2')]).map(brief)).toEqual([
    'user',
    'call 1',
    'result 1',
    'user',
    'call 2',
    'result 2',
  ]);
});

test('a reused id is another call, and a result without a call is left out', () => {
  const items = [user('a'), call('1'), result('1'), user('b'), call('1'), result('1'), result('1')];
  expect(importable(items).map(brief)).toEqual([
    'user',
    'call 1',
    'result 1',
    'user',
    'call 1_2',
    'result 1_2',
  ]);
});

test('the digest ignores the order of arguments and reasoning, but nothing else', () => {
  const digest = (...items: HistoryItem[]) => conversationDigest(items);
  const same = digest(user('a'), call('1', { a: 1, b: [{ c: 2, d: 3 }] }));
  expect(
    digest(user('a'), { type: 'reasoning', text: 'Hm.' }, call('1', { b: [{ d: 3, c: 2 }], a: 1 })),
  ).toBe(same);
  expect(digest(user('b'), call('1', { a: 1, b: [{ c: 2, d: 3 }] }))).not.toBe(same);
  expect(digest(user('a'), call('2', { a: 1, b: [{ c: 2, d: 3 }] }))).not.toBe(same);
  expect(digest(user('ab'))).not.toBe(digest(user('a'), user('b')));
});

test('the digest of a conversation extends that of its beginning, and joins the parts of a text', () => {
  const whole = conversationDigest([user('a'), call('1'), result('1')]);
  expect(conversationDigest([call('1'), result('1')], conversationDigest([user('a')]))).toBe(whole);
  const inParts: HistoryItem = { type: 'user', parts: [textPart('a'), textPart('b')] };
  expect(conversationDigest([inParts])).toBe(conversationDigest([user('ab')]));
});
