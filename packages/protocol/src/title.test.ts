import { expect, test } from 'bun:test';
import { titleFrom } from './title.ts';

test.each([
  ['# Fix the **build**, please', 'Fix the build, please'],
  ['- one\n- two', 'one two'],
  ['> quoted\n\nWhat is this?', 'quoted What is this?'],
  ['What does `npm ci` do?', 'What does npm ci do?'],
  ['See [the docs](https://example.org/a) *now*', 'See the docs now'],
  ['Run this:\n```sh\nls -l\n```', 'Run this: ls -l'],
  ['~~old~~ ***new***', 'old new'],
])('a title has no marks of Markdown: %s', (text, title) => {
  expect(titleFrom(text)).toBe(title);
});

test.each(['fix __init__.py', 'What is 2*3*4?', 'a * b and c * d', '#hashtag', 'C# or F#?', '***'])(
  'what is no mark stays: %s',
  (text) => {
    expect(titleFrom(text)).toBe(text);
  },
);

test('a long title is cut, and a text of any length is read once', () => {
  expect(titleFrom('word '.repeat(100))).toMatch(/^(word )+.*…$/);
  expect(titleFrom('word '.repeat(100))).toHaveLength(80);
  for (const mark of ['*', '**a', '`', '[', '[a](', '# ', '~~'])
    expect(titleFrom(mark.repeat(100_000)).length).toBeLessThanOrEqual(80);
});
