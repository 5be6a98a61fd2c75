import { expect, test } from 'bun:test';
import { safeLine, safeOutput, safeText } from './safe-text.ts';

const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`${ESCAPE}\\[[\\d;:]*m`, 'g');

test.each([
  ['a\x1b[31mb\x1b[0mc', 'abc'],
  ['a\x1b[2J\x1b[Hb', 'ab'],
  ['a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c', 'abc'],
  ['a\x1b]52;c;aGk=\x1b\\b', 'ab'],
  ['a\x1bP1$r\x1b\\b\x1b_app\x1b\\c\x1b^pm\x1b\\d', 'abcd'],
  ['a\u009b31mb\u009d0;t\u009cc', 'abc'],
  ['a\x1b]0;never ended', 'a'],
  ['a\x1b]0;never ended\nnext', 'a\nnext'],
  ['a\x1b', 'a'],
  ['a\x1b[', 'a'],
  ['a\x1b(Bb\x1b=c\x1b7d', 'abcd'],
  ['a\rb\bc\x07d\x00e\x7f', 'abcde'],
  ['one\r\ntwo\tthree', 'one\ntwo    three'],
  ['abc\u202edef\u2066g', 'abcdefg'],
  ['👩‍👩‍👧 é 安', '👩‍👩‍👧 é 安'],
])('%j is shown as %j', (text, shown) => {
  expect(safeText(text)).toBe(shown);
});

test('safe text never contains a control character', () => {
  const pieces = [
    '\x1b',
    '[',
    ']',
    'P',
    '31',
    'm',
    'J',
    '\x07',
    '\\',
    '\x9b',
    '\x9d',
    '\x9c',
    'x',
    '\n',
    '\r',
    ';',
    '(',
    '?',
  ];
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed;
  };
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 12 }, () => pieces[random() % pieces.length]).join('');
    expect(safeText(text)).not.toMatch(/(?!\n)\p{Cc}/u);
    const colours = safeOutput(text, true).replaceAll(COLOUR, '');
    expect(colours).not.toMatch(/(?!\n)\p{Cc}/u);
  }
});

test('output of programs keeps its colours, which end with the line', () => {
  expect(safeOutput('\x1b[1;32mok\x1b[2K\n\x1b[38;5;12mblue', true)).toBe(
    '\x1b[1;32mok\x1b[0m\n\x1b[38;5;12mblue\x1b[0m',
  );
  expect(safeOutput('\x1b[1;32mok\x1b[0m', false)).toBe('ok');
});

test('only the last version of an overwritten line is shown', () => {
  expect(safeOutput('10%\r50%\r100%\r\ndone', true)).toBe('100%\ndone');
});

test('a line is one line', () => {
  expect(safeLine(' a\n  b\tc\n')).toBe('a b    c');
});
