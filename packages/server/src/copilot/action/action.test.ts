import { describe, expect, test } from 'bun:test';
import { ACTION_NAMES, type Action, type Argument, parametersOf } from './action.ts';
import { parseAction } from './parse.ts';
import { printAction } from './print.ts';

describe('every action of the grammar is read', () => {
  test.each<[string, Action]>([
    ['navigate("https://example.com/a?b=c#d")', { name: 'navigate', url: 'https://example.com/a?b=c#d' }],
    ['search("SpaceX")', { name: 'search', query: 'SpaceX' }],
    ['goBack()', { name: 'goBack' }],
    ['goForward()', { name: 'goForward' }],
    ['wait(1.5)', { name: 'wait', seconds: 1.5 }],
    ['click(42)', { name: 'click', id: 42 }],
    ['setValue(7, "hello")', { name: 'setValue', id: 7, text: 'hello' }],
    ['scroll()', { name: 'scroll', args: [] }],
    ['scroll("down", 500, true, -0.5)', { name: 'scroll', args: ['down', 500, true, -0.5] }],
    ['findText("a")', { name: 'findText', text: 'a' }],
    ['hover(1)', { name: 'hover', id: 1 }],
    ['doubleClick(1)', { name: 'doubleClick', id: 1 }],
    ['rightClick(1)', { name: 'rightClick', id: 1 }],
    ['dragAndDrop(1, 2)', { name: 'dragAndDrop', from: 1, to: 2 }],
    ['press("Enter")', { name: 'press', key: 'Enter' }],
    ['type("a")', { name: 'type', text: 'a' }],
    ['focus(0)', { name: 'focus', id: 0 }],
    ['blur(1)', { name: 'blur', id: 1 }],
    ['check(1)', { name: 'check', id: 1 }],
    ['uncheck(1)', { name: 'uncheck', id: 1 }],
    ['dropdownOptions(1)', { name: 'dropdownOptions', id: 1 }],
    ['selectDropdown(1, "blue")', { name: 'selectDropdown', id: 1, value: 'blue' }],
    ['createTab("about:blank")', { name: 'createTab', url: 'about:blank' }],
    ['switch(3)', { name: 'switch', tabId: 3 }],
    ['close(3)', { name: 'close', tabId: 3 }],
    ['getTabs()', { name: 'getTabs' }],
    ['getText(1)', { name: 'getText', id: 1 }],
    ['getAttribute(1, "href")', { name: 'getAttribute', id: 1, attribute: 'href' }],
    ['isVisible(1)', { name: 'isVisible', id: 1 }],
    ['isEnabled(1)', { name: 'isEnabled', id: 1 }],
    ['screenshot()', { name: 'screenshot' }],
    ['acceptDialog()', { name: 'acceptDialog' }],
    ['dismissDialog()', { name: 'dismissDialog' }],
    ['getCookies()', { name: 'getCookies' }],
    ['getLocalStorage()', { name: 'getLocalStorage' }],
    ['evaluate("1 + 1")', { name: 'evaluate', code: '1 + 1' }],
    ['finish()', { name: 'finish' }],
    ['fail()', { name: 'fail' }],
  ])('%s', (text, action) => {
    expect(parseAction(text)).toEqual(action);
    expect(printAction(action)).toBe(text);
  });

  test('and there is no other', () => {
    expect(ACTION_NAMES).toHaveLength(37);
  });

  test('blanks are free around arguments', () => {
    expect(parseAction('setValue( 7 ,\t"x" )')).toEqual({ name: 'setValue', id: 7, text: 'x' });
    expect(parseAction('setValue(7,"x")')).toEqual({ name: 'setValue', id: 7, text: 'x' });
    expect(parseAction('finish( )')).toEqual({ name: 'finish' });
  });
});

describe('text in quotes may hold anything', () => {
  test.each<[string, string]>([
    ['say "hi"', 'type("say \\"hi\\"")'],
    ['a\\b', 'type("a\\\\b")'],
    ['one\ntwo\tthree', 'type("one\\ntwo\\tthree")'],
    ['\r\u0000\u001f\u007f\u2028', 'type("\\u000d\\u0000\\u001f\\u007f\\u2028")'],
    ['(a, b) and "c")', 'type("(a, b) and \\"c\\")")'],
    ['grüße 👋 你好', 'type("grüße 👋 你好")'],
    ['\ud83d', 'type("\\ud83d")'],
    ['\\n is not a line break', 'type("\\\\n is not a line break")'],
    ['', 'type("")'],
  ])('%j', (text, printed) => {
    expect(printAction({ name: 'type', text })).toBe(printed);
    expect(parseAction(printed)).toEqual({ name: 'type', text });
  });

  test('also written by numbers', () => {
    expect(parseAction('type("\\u00e9\\uD83D\\uDC4B")')).toEqual({ name: 'type', text: 'é👋' });
  });
});

describe('everything else is refused', () => {
  test.each([
    '',
    'click',
    'click(',
    'click()',
    'click(1',
    'click(1))',
    'click(1) ',
    ' click(1)',
    'click (1)',
    'click(1);',
    'click(1)\n',
    'click(1)\nclick(2)',
    'click(1, 2)',
    'click(1,)',
    'click(,1)',
    'click("1")',
    'click(-1)',
    'click(1.5)',
    'click(01)',
    'click(+1)',
    'click(1e3)',
    'click(0x1)',
    'click(NaN)',
    'click(99999999999999999999)',
    'click(true)',
    'Click(1)',
    'CLICK(1)',
    'setValue(1)',
    'setValue("x", 1)',
    'setValue(1, x)',
    "setValue(1, 'x')",
    'setValue(1, “x”)',
    'setValue(1, "x)',
    'setValue(1, "x" "y")',
    'setValue(1, "a"b")',
    'setValue(1, "\\x")',
    'setValue(1, "\\u12")',
    'setValue(1, "a\nb")',
    'setValue(1, null)',
    'navigate(https://example.com)',
    'navigate()',
    'wait("1")',
    'wait(-1)',
    'wait(-0)',
    'wait(1.50)',
    'wait(.5)',
    'wait(1.)',
    'finish("done")',
    'finish(true)',
    'scroll(1, 2, 3, 4, 5)',
    'scroll(down)',
    'scroll([1])',
    'unknown()',
    'constructor()',
    '__proto__()',
    'toString()',
    'hasOwnProperty("x")',
    'click(1) // then click(2)',
    'I will click(1)',
    '{"name":"click","id":1}',
    `type("${'x'.repeat(200_000)}")`,
  ])('%j', (text) => {
    expect(parseAction(text)).toBeNull();
  });

  test.each<[string, Action]>([
    ['a number that is none', { name: 'wait', seconds: Number.NaN }],
    ['an element below zero', { name: 'click', id: -1 }],
    ['half an element', { name: 'click', id: 1.5 }],
    ['more than all numbers', { name: 'wait', seconds: Number.POSITIVE_INFINITY }],
    ['a number with an exponent', { name: 'scroll', args: [1e-9] }],
    ['too many arguments', { name: 'scroll', args: [1, 2, 3, 4, 5] }],
  ])('and never written: %s', (_, action) => {
    expect(() => printAction(action)).toThrow(TypeError);
  });
});

describe('what is written is read back the same', () => {
  /** Mulberry32: the same numbers for the same seed. */
  function numbers(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  const ALPHABET = [
    '"',
    '\\',
    '\n',
    '\t',
    '\r',
    '(',
    ')',
    ',',
    ' ',
    'n',
    'u',
    '0',
    'a',
    'é',
    '你',
    '👋',
    '\u0000',
    '\ud800',
    '\udc00',
    '\u2028',
    "'",
    '}',
  ];

  function randomAction(next: () => number): Action {
    const whole = (limit: number) => Math.floor(next() * limit);
    const text = () =>
      Array.from({ length: whole(12) }, () => ALPHABET[whole(ALPHABET.length)] ?? '').join('');
    const amount = () => Math.round(next() * 10_000) / 100;
    const name = ACTION_NAMES[whole(ACTION_NAMES.length)] ?? 'finish';
    if (name === 'scroll') {
      const make = (): Argument => [text(), amount(), -whole(1_000) - 1, next() < 0.5][whole(4)] ?? '';
      return { name, args: Array.from({ length: whole(5) }, make) };
    }
    const fields: Record<string, Argument> = {};
    for (const [field, kind] of parametersOf(name) ?? [])
      fields[field] = kind === 'string' ? text() : kind === 'number' ? whole(2 ** 31) : amount();
    return { name, ...fields } as Action;
  }

  test.each([1, 2, 3, 4, 5])('2,000 actions of seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const action = randomAction(next);
      const printed = printAction(action);
      expect(parseAction(printed)).toEqual(action);
      expect(printed).not.toContain('\n');
    }
  });

  test.each([11, 12, 13])('what is damaged is refused or is another whole action: seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const printed = printAction(randomAction(next));
      const at = Math.floor(next() * printed.length);
      const damaged =
        printed.slice(0, at) + (ALPHABET[Math.floor(next() * ALPHABET.length)] ?? '') + printed.slice(at + 1);
      const action = parseAction(damaged);
      if (action) expect(parseAction(printAction(action))).toEqual(action);
    }
  });
});
