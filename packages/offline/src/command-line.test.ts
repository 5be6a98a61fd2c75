import { describe, expect, test } from 'bun:test';
import { commandOf, typed } from './command-line.ts';

describe('a command line is split into words', () => {
  test.each([
    ['git status', ['git', 'status']],
    ['  ls   -la ', ['ls', '-la']],
    ['`ls -la`', ['ls', '-la']],
    ['"git log"', ['git', 'log']],
    ['echo "a  b" \'c d\' e\\ f ""', ['echo', 'a  b', 'c d', 'e f', '']],
    ["echo don't", ['echo', "don't"]],
    ["grep 'a|b' x", ['grep', 'a|b', 'x']],
    ['a && b', ['bash', '-lc', 'a && b']],
    ['ls *.ts', ['bash', '-lc', 'ls *.ts']],
    ['echo $HOME', ['bash', '-lc', 'echo $HOME']],
    ['A=1 node x', ['bash', '-lc', 'A=1 node x']],
    ['echo größe 👋', ['echo', 'größe', '👋']],
  ])('%s', (written, expected) => {
    expect(commandOf(written)).toEqual(expected);
  });

  test('and can be printed as it would be typed', () => {
    expect(typed(['git', 'commit', '-m', "it's"])).toBe("git commit -m 'it'\\''s'");
    expect(typed(['bash', '-lc', 'a && b'])).toBe('a && b');
  });
});
