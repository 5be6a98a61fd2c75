import { expect, test } from 'bun:test';
import { filesOf, heightOf } from './patch-rows.ts';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const plain = (text: string) => ({ text, mark: null });

test('aligns removed lines with the lines that replace them', () => {
  const [file] = filesOf(
    patch('*** Update File: a.txt', '@@ main', ' one', '-two', '+zwei', '+drei', ' four'),
  );
  expect(file).toEqual({
    change: 'update',
    path: 'a.txt',
    moveTo: null,
    removed: 1,
    added: 2,
    runs: [
      { kind: 'hunk', text: 'main' },
      { kind: 'keep', lines: ['one'] },
      { kind: 'change', removed: [plain('two')], added: [plain('zwei'), plain('drei')] },
      { kind: 'keep', lines: ['four'] },
    ],
  });
  expect(file?.runs.map(heightOf)).toEqual([1, 1, 2, 1]);
});

test('marks the words that differ between aligned lines', () => {
  const [file] = filesOf(patch('*** Update File: a.ts', '-const port = 80;', '+const port = 8080;'));
  expect(file?.runs).toEqual([
    {
      kind: 'change',
      removed: [{ text: 'const port = 80;', mark: [13, 15] }],
      added: [{ text: 'const port = 8080;', mark: [13, 17] }],
    },
  ]);
});

test('a removed line after an added one starts a new change', () => {
  const [file] = filesOf(patch('*** Update File: a.txt', '-one', '+eins', '-two', '+zwei'));
  expect(file?.runs.map((run) => run.kind === 'change' && [run.removed.length, run.added.length])).toEqual([
    [1, 1],
    [1, 1],
  ]);
});

test('shows every file of a patch with its kind of change', () => {
  const files = filesOf(
    patch(
      '*** Add File: new.txt',
      '+hello',
      '+',
      '*** Delete File: old.txt',
      '*** Update File: from.txt',
      '*** Move to: to.txt',
      '@@',
      '-a',
      '+b',
    ),
  );
  expect(
    files.map(({ change, path, moveTo, added, removed }) => [change, path, moveTo, added, removed]),
  ).toEqual([
    ['add', 'new.txt', null, 2, 0],
    ['delete', 'old.txt', null, 0, 0],
    ['update', 'from.txt', 'to.txt', 1, 1],
  ]);
});

test('ignores blanks around markers and hunk headers', () => {
  const lines = [
    '*** Update File: a.txt',
    '*** Move to: b.txt',
    '@@ main',
    '-a',
    '@@',
    '-b',
    '*** Delete File: c',
  ];
  const padded = lines.map((line) => (/^[*@]/.test(line) ? `  ${line} ` : line));
  expect(filesOf(patch(...padded))).toEqual(filesOf(patch(...lines)));
});

test('an empty line of a hunk is a line of the file', () => {
  const [file] = filesOf(patch('*** Update File: a.txt', ' one', '', ' three', '+four'));
  expect(file?.runs[0]).toEqual({ kind: 'keep', lines: ['one', '', 'three'] });
});

test('shows every line, also lines that do not parse', () => {
  const text = patch(
    'what is this',
    '*** Update File: a.txt',
    'no sign',
    '*** Move to: late.txt',
    '-x',
    '*** End of File',
  );
  const shown = JSON.stringify(filesOf(text));
  for (const words of ['what is this', 'no sign', '*** Move to: late.txt', '"x"', '*** End of File'])
    expect(shown).toContain(words);
  expect(JSON.stringify(filesOf('rm -rf everything'))).toContain('rm -rf everything');
  expect(filesOf('')).toEqual([]);
});

test('accepts CRLF line endings', () => {
  expect(filesOf(patch('*** Add File: a.txt', '+one').replaceAll('\n', '\r\n'))).toEqual(
    filesOf(patch('*** Add File: a.txt', '+one')),
  );
});
