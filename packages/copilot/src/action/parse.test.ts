import { describe, expect, test } from 'bun:test';
import { ACTION_NAMES, type Action } from './action.ts';
import { parseAction, parseWritten } from './parse.ts';
import { printAction, sendWritten } from './print.ts';

describe('every action of the grammar is parsed', () => {
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

  test.each<[string, Action]>([
    ['clickAt(7, 12, 3.5)', { name: 'clickAt', id: 7, x: 12, y: 3.5 }],
    ['hoverAt(7, 0, 0)', { name: 'hoverAt', id: 7, x: 0, y: 0 }],
    ['drag(7, 1, 2, 8, -30, 4)', { name: 'drag', from: 7, fromX: 1, fromY: 2, to: 8, toX: -30, toY: 4 }],
    ['draw(7, "1,2 3,4")', { name: 'draw', id: 7, points: '1,2 3,4' }],
    ['selectText("tea")', { name: 'selectText', text: 'tea' }],
    ['selectText("tea", 7)', { name: 'selectText', text: 'tea', within: 7 }],
    ['numberedScreenshot()', { name: 'numberedScreenshot' }],
  ])('%s, of our own extension', (text, action) => {
    expect(parseAction(text)).toEqual(action);
    expect(printAction(action)).toBe(text);
    expect(ACTION_NAMES).not.toContain(action.name);
  });

  test('the grammar has no other actions', () => {
    expect(ACTION_NAMES).toHaveLength(37);
  });

  test('blanks are allowed around arguments', () => {
    expect(parseAction('setValue( 7 ,\t"x" )')).toEqual({ name: 'setValue', id: 7, text: 'x' });
    expect(parseAction('setValue(7,"x")')).toEqual({ name: 'setValue', id: 7, text: 'x' });
    expect(parseAction('finish( )')).toEqual({ name: 'finish' });
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
});

describe('escapes of a model are resolved', () => {
  test.each<[string, string]>([
    ['type("say \\"hi\\"")', `type('say "hi"')`],
    ["type('it\\'s')", `type("it's")`],
    ['setValue(1, "a\\"b\\n\\u00e9\\\\c")', `setValue(1, 'a"b\né\\c')`],
    // A client can read it, so it stays.
    ['type("C:\\new")', 'type("C:\\new")'],
  ])('%j', (written, sent) => {
    expect(sendWritten(written)?.text).toBe(sent);
  });

  test('an unknown escape is refused', () => {
    expect(sendWritten('type("\\" \\x")')).toBeNull();
  });
});

test.each<[string, string]>([
  ['setValue(1, "caf\\u00e9")', 'café'],
  ['setValue(1, "\\uD83D\\uDE00 ok")', '😀 ok'],
  ['setValue(1, "say \\"caf\\u00e9\\"")', 'say "café"'],
  ['setValue(1, "C:\\users\\new \\\\u00e9")', 'C:\\users\\new \\\\u00e9'],
])('\\uXXXX escapes of a model become characters: %s', (written, text) => {
  expect(parseWritten(written)).toEqual({ name: 'setValue', id: 1, text });
});
