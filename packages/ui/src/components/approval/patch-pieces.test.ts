import { expect, test } from 'bun:test';
import { colouredRuns, markedPieces, type Piece } from './patch-pieces.ts';
import { filesOf } from './patch-rows.ts';

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
