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

test('colours of the palette and in RGB become the nearest that has a name', () => {
  expect(
    brief('\x1b[38;5;4mblue\x1b[38;5;208morange\x1b[38;5;250mgrey\x1b[38;2;255;0;250mpink\x1b[m.'),
  ).toEqual([
    ['blue', 'ansi-blue'],
    ['orange', 'ansi-yellow'],
    ['grey', 'ansi-white'],
    ['pink', 'ansi-magenta'],
    ['.', ''],
  ]);
});

test('backgrounds and inverse text are shown', () => {
  expect(
    brief('\x1b[37;41m FAIL \x1b[49m w\x1b[0;48;5;2m PASS \x1b[0;7minverse\x1b[31mred\x1b[27mtext\x1b[104mb'),
  ).toEqual([
    [' FAIL ', 'ansi-on-red'],
    [' w', 'ansi-white'],
    [' PASS ', 'ansi-on-green'],
    ['inverse', 'ansi-on-white'],
    ['red', 'ansi-on-red'],
    ['text', 'ansi-red'],
    ['b', 'ansi-on-blue'],
  ]);
});

test('a carriage return overwrites its line', () => {
  expect(brief('start\n 10%\r 50%\r100%\r\nend\r\n')).toEqual([['start\n100%\r\nend\r\n', '']]);
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
