import { describe, expect, test } from 'bun:test';
import { readAction } from '../testing/deployed-client.ts';
import type { Action } from './action.ts';
import { parseAction } from './parse.ts';
import { printAction, sendAction } from './print.ts';

describe('text is sent verbatim, in a quote that it does not contain', () => {
  test.each<[string, string]>([
    ['say "hi"', `type('say "hi"')`],
    ["it's", `type("it's")`],
    [`"it's"`, `type(\`"it's"\`)`],
    ['`ls`', 'type("`ls`")'],
    ['`ls` and "x"', 'type(\'`ls` and "x"\')'],
    ['C:\\new\\', 'type("C:\\new\\")'],
    ['one\ntwo\tthree\r\n', 'type("one\ntwo\tthree\r\n")'],
    ['\u0000\u2028é', 'type("\u0000\u2028é")'],
    ['(a, b) and c)', 'type("(a, b) and c)")'],
    ['grüße 👋 你好', 'type("grüße 👋 你好")'],
    ['\ud83d', 'type("\ud83d")'],
    ['', 'type("")'],
  ])('%j', (text, printed) => {
    expect(sendAction({ name: 'type', text })).toEqual({
      text: printed,
      action: { name: 'type', text },
      note: null,
    });
    expect(parseAction(printed)).toEqual({ name: 'type', text });
    expect(readAction(printed)).toEqual({ name: 'type', args: [text] });
  });

  const ALL = '"it\'s" `ls`, said he';

  test('with all three kinds of quotes one kind is replaced and reported', () => {
    const sent = sendAction({ name: 'setValue', id: 7, text: ALL });
    expect(sent?.note).toContain('apostrophes');
    expect(readAction(sent?.text ?? '').args).toEqual([7, `"it's" 'ls', said he`]);
  });

  test('an address with all three kinds of quotes stays equivalent', () => {
    const url = 'https://example.com/?q="it\'s"`ls`';
    const sent = sendAction({ name: 'navigate', url });
    expect(sent?.note).toBeNull();
    const [read] = readAction(sent?.text ?? '').args;
    expect(new URL(String(read)).href).toBe(new URL(url).href);
  });

  test.each<Action>([
    { name: 'evaluate', code: ALL },
    { name: 'selectDropdown', id: 1, value: ALL },
    { name: 'getAttribute', id: 1, attribute: ALL },
    { name: 'press', key: ALL },
  ])('an argument that would change its meaning is not sent: $name', (action) => {
    expect(sendAction(action)).toBeNull();
    expect(() => printAction(action)).toThrow(TypeError);
  });

  test('an omitted argument before another has its default', () => {
    expect(printAction({ name: 'scroll', index: 3 })).toBe('scroll(true, 1, 3)');
  });

  test.each<[string, Action]>([
    ['NaN', { name: 'wait', seconds: Number.NaN }],
    ['a negative element', { name: 'click', id: -1 }],
    ['a fractional element', { name: 'click', id: 1.5 }],
    ['infinity', { name: 'wait', seconds: Number.POSITIVE_INFINITY }],
    ['a number with an exponent', { name: 'scroll', down: true, pages: 1e-9 }],
  ])('values outside of the grammar throw: %s', (_, action) => {
    expect(() => printAction(action)).toThrow(TypeError);
  });
});
