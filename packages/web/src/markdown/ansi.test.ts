import { expect, test } from 'bun:test';
import { ansiRuns } from './ansi.ts';

const brief = (text: string) => ansiRuns(text).map((run) => [run.text, run.className]);

test('colours and marks become classes', () => {
  expect(brief('a \x1b[31mred\x1b[0m b \x1b[1;92mok\x1b[39m bold\x1b[22m.')).toEqual([
    ['a ', ''],
    ['red', 'ansi-red'],
    [' b ', ''],
    ['ok', 'ansi-green ansi-bold'],
    [' bold', 'ansi-bold'],
    ['.', ''],
  ]);
});

test('colours of the palette and in RGB are consumed whole', () => {
  expect(brief('\x1b[38;5;4mblue\x1b[38;2;1;2;3mother\x1b[48;5;1m on\x1b[m.')).toEqual([
    ['blue', 'ansi-blue'],
    ['other', ''],
    [' on', ''],
    ['.', ''],
  ]);
});

test('other sequences are dropped', () => {
  expect(brief('a\x1b[2K\x1b[1Gb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b(Be\x1b')).toEqual([
    ['a', ''],
    ['b', ''],
    ['c', ''],
    ['d', ''],
    ['(Be', ''],
  ]);
});
