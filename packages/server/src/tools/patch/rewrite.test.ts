import { describe, expect, test } from 'bun:test';
import { parsePatch } from '@parlance/protocol/patch';
import { rewrite } from './rewrite.ts';

function apply(content: string, ...lines: string[]): string {
  const text = ['*** Begin Patch', '*** Update File: a', ...lines, '*** End Patch'].join('\n');
  const [change] = parsePatch(text);
  if (change?.kind !== 'update') throw new Error('not an update');
  return rewrite(content, change.hunks);
}

describe('hunks', () => {
  test('replace, remove and insert', () => {
    expect(apply('a\nb\nc\n', '@@', ' a', '-b', '+B', '+BB', ' c')).toBe('a\nB\nBB\nc\n');
    expect(apply('a\nb\nc\n', '@@', '-b')).toBe('a\nc\n');
    expect(apply('a\n', '@@', '-a')).toBe('');
  });

  test('are applied in file order', () => {
    const content = 'x\na\nx\nb\nx\n';
    expect(apply(content, '@@', ' a', '-x', '+1', '@@', ' b', '-x', '+2')).toBe('x\na\n1\nb\n2\n');
    expect(() => apply(content, '@@', '-b', '@@', '-a')).toThrow('cannot find these lines');
  });

  test('seek the lines of their headers, nested', () => {
    const content = 'class A\n  f()\n    x\nclass B\n  f()\n    x\n';
    expect(apply(content, '@@ class B', '@@   f()', '-    x', '+    y')).toBe(
      'class A\n  f()\n    x\nclass B\n  f()\n    y\n',
    );
    expect(() => apply(content, '@@ class C', '-    x')).toThrow('cannot find the line "class C"');
  });

  test('may repeat the line of their header', () => {
    expect(apply('a\nf()\nx\n', '@@ f()', ' f()', '-x')).toBe('a\nf()\n');
  });

  test('that only add go after the line they name, or to the end', () => {
    expect(apply('a\nb\n', '@@ a', '+new')).toBe('a\nnew\nb\n');
    expect(apply('a\nb\n', '@@', '+new')).toBe('a\nb\nnew\n');
    expect(apply('a\nb\n', '+new', '@@', '-a', '+A')).toBe('A\nb\nnew\n');
    expect(apply('', '+new')).toBe('new\n');
  });

  test('can be pinned to the end', () => {
    expect(apply('a\nx\na\n', '@@', '-a', '+z', '*** End of File')).toBe('a\nx\nz\n');
    expect(() => apply('a\nx\n', '@@', '-a', '*** End of File')).toThrow('cannot find');
  });

  test('may end in an empty line that stands for the final newline', () => {
    expect(apply('a\nb\n', '@@', ' a', '-b', '+c', ' ', '*** End of File')).toBe('a\nc\n');
  });

  test('matched leniently leave the context as it is in the file', () => {
    expect(apply('\ta  \nb\u2019\nc\n', '@@', ' a', " b'", '-c', '+d')).toBe('\ta  \nb\u2019\nd\n');
  });
});

describe('endings', () => {
  test('CRLF is preserved, also on new lines', () => {
    expect(apply('a\r\nb\r\n', '@@', ' a', '+new', '-b', '+B')).toBe('a\r\nnew\r\nB\r\n');
    expect(apply('a\r\n', '+new')).toBe('a\r\nnew\r\n');
  });

  test('mixed endings stay, and new lines take that of their neighbour', () => {
    expect(apply('a\r\nb\nc\n', '@@', ' b', '+x', ' c')).toBe('a\r\nb\nx\nc\n');
    expect(apply('a\r\nb\nc\n', '@@', ' a', '+x', ' b')).toBe('a\r\nx\r\nb\nc\n');
  });

  test('a missing final newline stays missing, an existing one stays', () => {
    expect(apply('a\nb', '@@', '-b', '+c')).toBe('a\nc');
    expect(apply('a\nb', '+c')).toBe('a\nb\nc');
    expect(apply('a\r\nb', '+c')).toBe('a\r\nb\r\nc');
    expect(apply('a\nb', '@@', '-b')).toBe('a');
    expect(apply('a\nb\n', '@@', '-b')).toBe('a\n');
  });

  test('a byte order mark is preserved and does not prevent a match', () => {
    expect(apply('\ufeffa\nb\n', '@@', '-a', '+A')).toBe('\ufeffA\nb\n');
  });
});
