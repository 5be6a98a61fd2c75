import { expect, test } from 'bun:test';
import { draftOf, edited, fieldFrame, inserted, vertically } from './editor.ts';

/** `|` is the cursor. */
const at = (shown: string) => ({ text: shown.replace('|', ''), cursor: shown.indexOf('|') });
const shown = ({ text, cursor }: { text: string; cursor: number }) =>
  `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each([
  ['a👩‍👩‍👧|b', 'backspace', 'a|b'],
  ['a|👩‍👩‍👧b', 'right', 'a👩‍👩‍👧|b'],
  ['ae\u0301|', 'left', 'a|e\u0301'],
  ['|ab', 'backspace', '|ab'],
  ['ab|', 'delete', 'ab|'],
  ['one two-three|', 'ctrl-w', 'one |'],
  ['one two|', 'alt-b', 'one |two'],
  ['one| two', 'alt-f', 'one two|'],
  ['one\ntwo th|ree', 'ctrl-u', 'one\n|ree'],
  ['one\ntw|o\nthree', 'ctrl-k', 'one\ntw|\nthree'],
  ['one|\ntwo', 'ctrl-k', 'one|two'],
  ['one\ntw|o', 'ctrl-a', 'one\n|two'],
  ['one\nt|wo\nx', 'ctrl-e', 'one\ntwo|\nx'],
])('%j and %s is %j', (before, key, after) => {
  expect(shown(edited(at(before), key) ?? draftOf(''))).toBe(after);
});

test('the cursor moves between lines, and keeps its column', () => {
  expect(vertically(at('long line\nab|c'), 'up')).toEqual(at('lo|ng line\nabc'));
  expect(vertically(at('long li|ne\nabc'), 'down')).toEqual(at('long line\nabc|'));
  expect(vertically(at('o|ne\ntwo'), 'up')).toBeNull();
  expect(vertically(at('one\ntw|o'), 'down')).toBeNull();
});

test('a field wraps at the width, with wide characters as two columns', () => {
  const options = { prompt: '> ', width: 11, rows: 10 };
  expect(fieldFrame(inserted(draftOf(''), 'abcdefghij'), options)).toEqual({
    lines: ['> abcdefgh', '  ij'],
    cursor: { row: 1, column: 4 },
  });
  expect(fieldFrame(draftOf('安安安安安'), options)).toEqual({
    lines: ['> 安安安安', '  安'],
    cursor: { row: 1, column: 4 },
  });
  expect(fieldFrame(at('ab\n|'), options)).toEqual({ lines: ['> ab', '  '], cursor: { row: 1, column: 2 } });
});

test('shows the lines around the cursor of a long text', () => {
  const text = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
  const frame = fieldFrame(draftOf(text), { prompt: '> ', width: 40, rows: 3 });
  expect(frame.lines).toEqual(['  line 17', '  line 18', '  line 19']);
  expect(fieldFrame({ text, cursor: 0 }, { prompt: '> ', width: 40, rows: 3 }).lines[0]).toBe('> line 0');
});
