import { expect, test } from 'bun:test';
import { wordsOf } from './words.ts';

const words = (text: string) => wordsOf(text, 100).map(({ word }) => word);

test('case, accents and compatibility forms do not matter', () => {
  expect(words('Crème BRÛLÉE, ﬁne ½ straße')).toEqual(['creme', 'brulee', 'fine', '12', 'straße']);
  expect(words('e\u0301te\u0301')).toEqual(['ete']);
});

test('identifiers keep their underscores, other punctuation separates words', () => {
  expect(words('apply_patch(src/main.ts) a-b "c" x*')).toEqual('apply_patch src main ts a b c x'.split(' '));
});

test('in scripts without spaces, each character is a word', () => {
  expect(words('東京都 and ไทย')).toEqual(['東', '京', '都', 'and', 'ไ', 'ท', 'ย']);
});

test('a word has its position in the text', () => {
  const text = '**Été** 😀 東';
  expect(wordsOf(text, 10).map(({ start, end }) => text.slice(start, end))).toEqual(['Été', '東']);
});

test('the number and the length of words are limited, and no surrogate pair is split', () => {
  expect(wordsOf('a b c', 2).length).toBe(2);
  const [long] = wordsOf('𝒳'.normalize().repeat(10) + '𐐷'.repeat(100), 1);
  expect(long?.word.length).toBeLessThanOrEqual(64);
  expect(long?.word.isWellFormed()).toBe(true);
  expect(words('\ud800\0\ufffd')).toEqual([]);
});
