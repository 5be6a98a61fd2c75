import { expect, test } from 'bun:test';
import { explain } from './explanation.ts';

test.each([
  [['rm', '-rf', 'node_modules'], /^`rm` deletes files.*`-rf`, `node_modules`/],
  [['/bin/rm', 'x'], /deletes files/],
  [['git', 'push', '--force'], /^`git push` sends commits.*`--force`/],
  [['npm', 'install', 'left-pad'], /install scripts may run.*`left-pad`/],
  [['git', 'frobnicate'], /^`git` works on the version history.*`frobnicate`/],
  [['bash', '-lc', 'ls && rm x'], /script of 2 parts\. `ls` lists files.*`rm` deletes files/],
  [['frobnicate', '--all'], /do not know the program `frobnicate`.*documentation/],
  [['constructor'], /do not know the program/],
])('the command %j is explained', (command, expected) => {
  expect(explain(JSON.stringify(command))).toMatch(expected);
});

test('a command line is explained part by part', () => {
  expect(explain('cat a | grep b')).toMatch(/2 parts\. `cat` prints files.*`grep` looks for text/);
  expect(explain('')).toBe('There is nothing to explain.');
});

test('a patch is explained by its files and lines', () => {
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Delete File: b.txt\n*** End Patch';
  const expected = 'The patch adds `a.txt`, deletes `b.txt`: 2 lines added, 0 removed.';
  expect(explain(patch)).toBe(expected);
  expect(explain(JSON.stringify(['apply_patch', patch]))).toBe(expected);
});
