import { expect, test } from 'bun:test';
import { deltas, summarise } from './text.ts';

test.each(['one two  three\n four', '  leading', '你好，世界', 'e\u0301 👩‍👩‍👧', ''])(
  'deltas join to the text: %j',
  (text) => {
    expect([...deltas(text)].join('')).toBe(text);
  },
);

test('a summary is the first sentences, or the title', () => {
  expect(summarise('Title: Bees\nBees live in hives. They make honey. They fly. They sting.')).toBe(
    'Bees live in hives. They make honey. They fly.',
  );
  expect(summarise('Title: Bees\n')).toBe('Bees');
  expect(summarise(' \n ')).toBe('There is no text to summarise.');
});

test('a summary of a long text is short', () => {
  expect(summarise('one two three four five six seven '.repeat(50_000)).length).toBeLessThan(1_300);
});
