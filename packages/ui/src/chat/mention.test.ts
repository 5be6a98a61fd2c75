import { expect, test } from 'bun:test';
import { completed, mentionAt, mentionOf } from './mention.ts';

test('a mention is what begins with an at sign before the cursor', () => {
  const typed = (text: string, cursor = text.length) => mentionAt(text, cursor)?.typed ?? null;
  expect(typed('@')).toBe('');
  expect(typed('see @src/ma')).toBe('src/ma');
  expect(typed('see (@src')).toBe('src');
  expect(typed('see @"my no')).toBe('my no');
  expect(typed('see @src/main.ts and', 10)).toBe('src/m');
  for (const text of ['me@example.com', 'see @src and', 'see @"a b" ', 'see @a@b', ''])
    expect(typed(text)).toBeNull();
});

test('a choice takes the place of what was typed', () => {
  const choose = (text: string, path: string, cursor = text.length) => {
    const mention = mentionAt(text, cursor);
    if (!mention) throw new Error('there is no mention');
    const { text: after, cursor: at } = completed(text, mention, path);
    return `${after.slice(0, at)}|${after.slice(at)}`;
  };
  expect(choose('see @ma', 'src/main.ts')).toBe('see @src/main.ts |');
  expect(choose('see @ma and', 'src/main.ts', 7)).toBe('see @src/main.ts| and');
  expect(choose('@my', 'my notes.md')).toBe('@"my notes.md" |');
  expect(choose('@"my no', 'my notes.md')).toBe('@"my notes.md" |');
  expect(choose('@"my no" x', 'my notes.md', 7)).toBe('@"my notes.md"| x');
  expect(choose('@s', 'src/')).toBe('@src/|');
  expect(choose('@my', 'my files/')).toBe('@"my files/|');
  expect(mentionAt('@"my files/', 11)?.typed).toBe('my files/');
});

test('a path with spaces is in quotes', () => {
  expect([mentionOf('a.ts'), mentionOf('a b.ts')]).toEqual(['@a.ts', '@"a b.ts"']);
});
