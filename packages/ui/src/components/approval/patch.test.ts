import { expect, test } from 'bun:test';
import { colouredRuns, filesOf, heightOf, markedPieces, numberedRuns, type Piece } from './patch.ts';

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

const piece = (text: string, className = ''): Piece => ({ text, className });

test('a marked range is cut out of the pieces that it crosses', () => {
  expect(markedPieces([piece('const ', 'k'), piece('port')], [3, 8])).toEqual([
    { text: 'con', className: 'k', isMarked: false },
    { text: 'st ', className: 'k', isMarked: true },
    { text: 'po', className: '', isMarked: true },
    { text: 'rt', className: '', isMarked: false },
  ]);
  expect(markedPieces([piece('as it is')], null)).toEqual([
    { text: 'as it is', className: '', isMarked: false },
  ]);
});

test('each side is coloured as one text, and every line gets its own pieces', () => {
  const [file] = filesOf(
    '*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+zwei\n+drei\n four\n*** End Patch',
  );
  const seen: string[] = [];
  const coloured = colouredRuns(file?.runs ?? [], (code) => {
    seen.push(code);
    return code.split('\n').map((line) => [piece(line, 'colour')]);
  });
  expect(seen).toEqual(['one\ntwo\nfour', 'one\nzwei\ndrei\nfour']);
  expect(coloured[2]).toEqual({
    before: [[piece('two', 'colour')]],
    after: [[piece('zwei', 'colour')], [piece('drei', 'colour')]],
  });
  expect(coloured[3]?.after).toEqual([[piece('four', 'colour')]]);
});

test('lines in an unknown language stay plain', () => {
  const [file] = filesOf('*** Begin Patch\n*** Add File: a\n+one\n*** End Patch');
  expect(colouredRuns(file?.runs ?? [], () => null)[0]?.after).toEqual([[piece('one')]]);
});
