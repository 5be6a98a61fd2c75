import { expect, test } from 'bun:test';
import { numberedRuns } from './patch-numbers.ts';
import { filesOf } from './patch-rows.ts';

function numbersOf(starts: readonly number[], ...lines: string[]) {
  const [file] = filesOf(['*** Begin Patch', ...lines, '*** End Patch'].join('\n'));
  if (!file) throw new Error('the patch names no file');
  return numberedRuns(file, starts)
    .filter(({ run }) => run.kind !== 'hunk')
    .map(({ before, after }) => [before, after]);
}

test('lines of a new file are counted from one', () => {
  expect(numbersOf([], '*** Add File: a', '+one', '+two')).toEqual([[null, 1]]);
});

test('the runs of a hunk follow each other on both sides', () => {
  const lines = ['*** Update File: a', '@@ main', '@@ inner', ' one', '-two', '+zwei', '+drei', ' four'];
  expect(numbersOf([7], ...lines)).toEqual([
    [7, 7],
    [8, 8],
    [9, 10],
  ]);
});

test('a hunk is shifted by the hunks above it in the file, whatever their order in the patch', () => {
  const lines = ['*** Update File: a', '@@', '+late', ' x', '@@', '-gone', ' y', '@@', ' z'];
  expect(numbersOf([20, 5, 30], ...lines)).toEqual([
    [20, 19],
    [20, 20],
    [5, 5],
    [6, 5],
    [30, 30],
  ]);
});

test('a hunk whose place is not known has no numbers', () => {
  expect(numbersOf([], '*** Update File: a', '-one', '+two')).toEqual([[null, null]]);
});
