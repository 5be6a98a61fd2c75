import { describe, expect, test } from 'bun:test';
import { contextReading, PatchError, parsePatch, patchedFiles, pathsOf } from './patch.ts';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

describe('a patch is parsed', () => {
  test('with all kinds of change', () => {
    const changes = parsePatch(
      patch(
        '*** Add File: new.txt',
        '+one',
        '+',
        '+*** not a header',
        '*** Delete File: old.txt',
        '*** Update File: a.txt',
        '*** Move to: b.txt',
        '@@ class A',
        '@@ method()',
        ' keep',
        '-out',
        '+in',
        '@@',
        '+last',
        '*** End of File',
      ),
    );
    expect(changes).toEqual([
      { kind: 'add', path: 'new.txt', lines: ['one', '', '*** not a header'] },
      { kind: 'delete', path: 'old.txt' },
      {
        kind: 'update',
        path: 'a.txt',
        moveTo: 'b.txt',
        hunks: [
          {
            seek: ['class A', 'method()'],
            lines: [
              { kind: 'keep', text: 'keep' },
              { kind: 'remove', text: 'out' },
              { kind: 'add', text: 'in' },
            ],
            atEnd: false,
          },
          { seek: [], lines: [{ kind: 'add', text: 'last' }], atEnd: true },
        ],
      },
    ]);
    expect(pathsOf(changes)).toEqual(['new.txt', 'old.txt', 'a.txt', 'b.txt']);
  });

  test('if the first hunk has no header', () => {
    expect(parsePatch(patch('*** Update File: a', ' x', '-y'))).toMatchObject([{ hunks: [{ seek: [] }] }]);
  });

  test('if a header is that of a unified diff', () => {
    const [change] = parsePatch(patch('*** Update File: a', '@@ -1,3 +1,4 @@ section', '-y'));
    expect(change).toMatchObject({ hunks: [{ seek: [], lines: [{ kind: 'remove', text: 'y' }] }] });
  });

  test('if an empty context line lost its leading blank', () => {
    const [change] = parsePatch(patch('*** Update File: a', '@@', ' x', '', '-y'));
    expect(change).toMatchObject({ hunks: [{ lines: [{}, { kind: 'keep', text: '' }, {}] }] });
  });

  test('with empty lines between files', () => {
    const changes = parsePatch(
      patch('', '*** Add File: a', '+x', '', '*** Update File: b', '+y', '', '*** Delete File: c'),
    );
    expect(changes).toMatchObject([
      { lines: ['x'] },
      { hunks: [{ lines: [{ kind: 'add', text: 'y' }] }] },
      { kind: 'delete' },
    ]);
  });

  test('with CRLF and surrounding blanks', () => {
    const text = `\n ${patch('*** Add File: a', '+x').replaceAll('\n', '\r\n')} \r\n`;
    expect(parsePatch(text)).toEqual([{ kind: 'add', path: 'a', lines: ['x'] }]);
  });

  test('with blanks around every marker and hunk header', () => {
    const lines = [
      '*** Begin Patch',
      '*** Update File: a.txt',
      '*** Move to: b.txt',
      '@@ class A',
      '-one',
      '+two',
      '@@',
      '-three',
      '*** End of File',
      '*** Add File: c.txt',
      '+x',
      '*** Delete File: d.txt',
      '*** End Patch',
    ];
    const padded = lines.map((line) => (/^(\*\*\*|@@)/.test(line) ? `  ${line} \t` : line));
    expect(parsePatch(padded.join('\n'))).toEqual(parsePatch(lines.join('\n')));
    expect(contextReading(lines.join('\n'))).toBeNull();
  });

  test('an indented class variable is context, not a hunk header', () => {
    const [change] = parsePatch(patch('*** Update File: a.rb', '@@', ' @@count = 0', '-x'));
    expect(change).toMatchObject({ hunks: [{ seek: [], lines: [{ text: '@@count = 0' }, { text: 'x' }] }] });
  });

  test('an indented file header inside a hunk has two readings', () => {
    const text = patch('*** Update File: a', '@@', '-x', ' *** Delete File: b');
    expect(pathsOf(parsePatch(text))).toEqual(['a', 'b']);
    expect(contextReading(text)).toMatchObject([
      { path: 'a', hunks: [{ lines: [{ text: 'x' }, { kind: 'keep', text: '*** Delete File: b' }] }] },
    ]);
  });

  test('an empty file can be added, and a file moved without a change', () => {
    expect(parsePatch(patch('*** Add File: a'))).toEqual([{ kind: 'add', path: 'a', lines: [] }]);
    expect(parsePatch(patch('*** Update File: a', '*** Move to: b'))).toEqual([
      { kind: 'update', path: 'a', moveTo: 'b', hunks: [] },
    ]);
  });
});

test.each([
  ['', 'must begin'],
  ['nothing', 'must begin'],
  ['*** Begin Patch', 'must end'],
  ['*** Begin Patch\n*** Add File: a\n+x', 'must end'],
  [patch(), 'changes no file'],
  [`${patch('*** Delete File: a')}\nmore`, 'nothing may follow'],
  [patch('*** Delete File: '), 'path is missing'],
  [patch('*** Rename File: a'), 'not the header'],
  [patch('words'), 'not the header'],
  [patch('*** Add File: a', 'x'), 'must start with +'],
  [patch('*** Add File: a', '+x', '', '+y'), 'must start with +'],
  [patch('*** Update File: a'), 'has no hunk'],
  [patch('*** Update File: a', '@@'), 'has no lines'],
  [patch('*** Update File: a', '@@', 'x'), 'must start with a blank'],
  [patch('*** Update File: a', '+x', '*** End of File', '+y'), 'must start with @@'],
  [patch('*** Update File: a', '*** Move to: ', '+y'), 'path is missing'],
])('a text that is no patch is refused with a reason: %j', (text, reason) => {
  expect(() => parsePatch(text)).toThrow(PatchError);
  expect(() => parsePatch(text)).toThrow(reason);
});

test('what is shown has every line of what is applied, and the same files', () => {
  const text = patch(
    '*** Add File: new.txt',
    '+one',
    ' *** Update File: a.txt',
    '*** Move to: b.txt',
    '@@ class A',
    ' keep',
    '-out',
    '+in',
    '*** End of File',
    '*** Delete File: old.txt',
  );
  const shown = patchedFiles(text.replaceAll('\n', '\r\n'));
  expect(shown).toEqual([
    { change: 'add', path: 'new.txt', moveTo: null, lines: [{ kind: 'add', text: 'one' }] },
    {
      change: 'update',
      path: 'a.txt',
      moveTo: 'b.txt',
      lines: [
        { kind: 'hunk', text: 'class A' },
        { kind: 'keep', text: 'keep' },
        { kind: 'remove', text: 'out' },
        { kind: 'add', text: 'in' },
        { kind: 'other', text: '*** End of File' },
      ],
    },
    { change: 'delete', path: 'old.txt', moveTo: null, lines: [] },
  ]);
  const paths = shown.flatMap(({ path, moveTo }) => (moveTo === null ? [path] : [path, moveTo]));
  expect(paths).toEqual(pathsOf(parsePatch(text)));
});

test('a text that is no patch is shown as it is', () => {
  expect(patchedFiles('rm -rf everything')).toEqual([
    { change: 'unknown', path: '', moveTo: null, lines: [{ kind: 'other', text: 'rm -rf everything' }] },
  ]);
  expect(patchedFiles('')).toEqual([]);
});
