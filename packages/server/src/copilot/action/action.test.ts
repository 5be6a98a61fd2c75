import { describe, expect, test } from 'bun:test';
import { readAction } from '../../testing/deployed-client.ts';
import { ACTION_NAMES, type Action, type Argument, type Parameter, parametersOf } from './action.ts';
import { parseAction, parseWritten } from './parse.ts';
import { printAction, sendAction, sendWritten } from './print.ts';

describe('every action of the grammar is read', () => {
  test.each<[string, Action]>([
    ['navigate("https://example.com/a?b=c#d")', { name: 'navigate', url: 'https://example.com/a?b=c#d' }],
    ['search("SpaceX")', { name: 'search', query: 'SpaceX' }],
    ['goBack()', { name: 'goBack' }],
    ['goForward()', { name: 'goForward' }],
    ['wait(1.5)', { name: 'wait', seconds: 1.5 }],
    ['click(42)', { name: 'click', id: 42 }],
    ['setValue(7, "hello")', { name: 'setValue', id: 7, text: 'hello' }],
    ['scroll()', { name: 'scroll' }],
    ['scroll(true)', { name: 'scroll', down: true }],
    ['scroll(false, 2)', { name: 'scroll', down: false, pages: 2 }],
    ['scroll(true, 0.5, 14)', { name: 'scroll', down: true, pages: 0.5, index: 14 }],
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

describe('text is sent as it is, in a quote that does not occur in it', () => {
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

  test('with all three kinds of quotes one kind is changed, and that is said', () => {
    const sent = sendAction({ name: 'setValue', id: 7, text: ALL });
    expect(sent?.note).toContain('apostrophes');
    expect(readAction(sent?.text ?? '').args).toEqual([7, `"it's" 'ls', said he`]);
  });

  test('an address with all three kinds of quotes still leads to the same place', () => {
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
  ])('what would mean something else is not sent: $name', (action) => {
    expect(sendAction(action)).toBeNull();
    expect(() => printAction(action)).toThrow(TypeError);
  });

  test('an argument that is left out before another has its default', () => {
    expect(printAction({ name: 'scroll', index: 3 })).toBe('scroll(true, 1, 3)');
  });
});

describe('what a model wrote with escapes is sent without', () => {
  test.each<[string, string]>([
    ['type("say \\"hi\\"")', `type('say "hi"')`],
    ["type('it\\'s')", `type("it's")`],
    ['setValue(1, "a\\"b\\n\\u00e9\\\\c")', `setValue(1, 'a"b\né\\c')`],
    // A client can read it, so it is what it says.
    ['type("C:\\new")', 'type("C:\\new")'],
  ])('%j', (written, sent) => {
    expect(sendWritten(written)?.text).toBe(sent);
  });

  test('an escape that is not known is refused', () => {
    expect(sendWritten('type("\\" \\x")')).toBeNull();
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
    'setValue(1, “x”)',
    'setValue(1, "x)',
    'setValue(1, "x" "y")',
    'setValue(1, "a"b")',
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
    'scroll("down")',
    'scroll(down)',
    'scroll(1)',
    'scroll(true, "2")',
    'scroll(true, -1)',
    'scroll(true, true)',
    'scroll(true, 1, 1.5)',
    'scroll(true, 1, 2, 3)',
    `setValue(1, "x')`,
    `setValue(1, 'it's')`,
    'setValue(1, "say \\"hi\\"")',
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
    ['a number with an exponent', { name: 'scroll', down: true, pages: 1e-9 }],
  ])('and never written: %s', (_, action) => {
    expect(() => printAction(action)).toThrow(TypeError);
  });
});

describe('what is sent is read by deployed clients as it is meant', () => {
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
    '`',
    '}',
  ];

  function randomAction(next: () => number): Action {
    const whole = (limit: number) => Math.floor(next() * limit);
    const text = () =>
      Array.from({ length: whole(12) }, () => ALPHABET[whole(ALPHABET.length)] ?? '').join('');
    const amount = () => Math.round(next() * 10_000) / 100;
    const name = ACTION_NAMES[whole(ACTION_NAMES.length)] ?? 'finish';
    const made: Record<Parameter, () => Argument> = {
      text,
      exact: text,
      url: () => `https://example.com/${text()}`,
      number: () => whole(2 ** 31),
      amount,
      flag: () => next() < 0.5,
    };
    const parameters = parametersOf(name) ?? [];
    const given = name === 'scroll' ? parameters.slice(0, whole(4)) : parameters;
    return { name, ...Object.fromEntries(given.map(([field, kind]) => [field, made[kind]()])) } as Action;
  }

  const argumentsOf = ({ name: _, ...fields }: Action) => Object.values(fields) as Argument[];
  const hasAll = (text: Argument) => ['"', "'", '`'].every((quote) => String(text).includes(quote));

  test.each([1, 2, 3, 4, 5])('2,000 actions of seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const action = randomAction(next);
      const { name, ...fields } = action;
      const meant = Object.values(fields) as Argument[];
      const sent = sendAction(action);
      if (meant.some(hasAll)) {
        // Changed and said so, encoded, or not sent at all.
        if (sent) expect(readAction(sent.text).args).toHaveLength(meant.length);
        if (sent && name !== 'navigate' && name !== 'createTab') expect(sent.note).not.toBeNull();
        continue;
      }
      expect(sent).toEqual({ text: expect.any(String), action, note: null });
      expect(readAction(sent?.text ?? '')).toEqual({ name, args: meant });
    }
  });

  test.each([11, 12, 13])('what is damaged is refused or is another whole action: seed %d', (seed) => {
    const next = numbers(seed);
    for (let round = 0; round < 2_000; round++) {
      const printed = sendAction(randomAction(next))?.text ?? '';
      const at = Math.floor(next() * printed.length);
      const damaged =
        printed.slice(0, at) + (ALPHABET[Math.floor(next() * ALPHABET.length)] ?? '') + printed.slice(at + 1);
      const action = parseAction(damaged);
      if (action) expect(readAction(damaged)).toEqual({ name: action.name, args: argumentsOf(action) });
    }
  });
});

test.each<[string, string]>([
  ['setValue(1, "caf\\u00e9")', 'café'],
  ['setValue(1, "\\uD83D\\uDE00 ok")', '😀 ok'],
  ['setValue(1, "say \\"caf\\u00e9\\"")', 'say "café"'],
  ['setValue(1, "C:\\users\\new \\\\u00e9")', 'C:\\users\\new \\\\u00e9'],
])('characters that a model wrote as \\uXXXX are meant: %s', (written, text) => {
  expect(parseWritten(written)).toEqual({ name: 'setValue', id: 1, text });
});
