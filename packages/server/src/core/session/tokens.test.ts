import { expect, test } from 'bun:test';
import { countTokens } from './tokens.ts';

/** Counted with the o200k vocabulary. */
const KNOWN: [string, number][] = [
  ['It was the best of times, it was the worst of times, it was the age of wisdom.', 20],
  ['人工智能正在改变世界。我们今天讨论的主题是如何构建一个可靠的服务器，并且让所有的客户端都能使用它。', 30],
  ['Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.', 25],
  [Array.from({ length: 300 }, (_, index) => index + 1).join(' '), 599],
  ['🎉🎉 👋 hello 👩‍👩‍👧 world 🚀', 18],
];

for (const [text, tokens] of KNOWN) {
  test(`${text.slice(0, 30)}… is estimated within 25 %`, () => {
    expect(Math.abs(countTokens(text) - tokens) / tokens).toBeLessThan(0.25);
  });
}

test('an empty text has no tokens, and a lone surrogate counts like a character', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('\ud83d')).toBe(1);
});

test('more text never has fewer tokens', () => {
  const text = 'Parlance speaks 4 dialects; 你好, мир 🚀\n  indented {"a": [1, 2]}\n'.repeat(3);
  for (let length = 1; length < text.length; length++) {
    expect(countTokens(text.slice(0, length))).toBeGreaterThanOrEqual(
      countTokens(text.slice(0, length - 1)) - 1,
    );
  }
});
