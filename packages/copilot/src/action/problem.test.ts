import { describe, expect, test } from 'bun:test';
import { parsePage } from '../page/parse-page.ts';
import { renderPage } from '../page/render.ts';
import { type FixtureName, fixture } from '../testing/fixtures/pages.ts';
import { parseAction } from './parse.ts';
import { actionProblem } from './problem.ts';

const problem = (name: FixtureName, text: string): string | null => {
  const action = parseAction(text);
  if (!action) throw new Error(`not an action: ${text}`);
  return actionProblem(action, fixture(name));
};

describe('a possible action is accepted', () => {
  test.each<[FixtureName, string]>([
    ['form', 'click(10)'],
    ['form', 'setValue(1, "Ada")'],
    ['form', 'setValue(8, "")'],
    ['form', 'check(6)'],
    ['form', 'check(4)'],
    ['form', 'uncheck(6)'],
    ['form', 'selectDropdown(3, "blue")'],
    ['form', 'selectDropdown(3, "Blue")'],
    ['form', 'dropdownOptions(3)'],
    ['form', 'hover(7)'],
    ['form', 'dragAndDrop(1, 2)'],
    ['form', 'navigate("https://example.com")'],
    ['form', 'createTab("about:blank")'],
    ['form', 'scroll(true)'],
    ['form', 'scroll(true, 1, 3)'],
    ['form', 'wait(5)'],
    ['form', 'finish()'],
    ['labels', 'setValue(10, "x")'],
    ['tabs', 'check(4)'],
    ['tabs', 'selectDropdown(5, "German")'],
    ['shop', 'isEnabled(3)'],
  ])('%s.html: %s', (name, action) => {
    expect(problem(name, action)).toBeNull();
  });
});

describe('an impossible action is refused with a reason', () => {
  test.each<[FixtureName, string, RegExp]>([
    ['form', 'click(99)', /no element 99/],
    ['form', 'click(9)', /no element 9/],
    ['form', 'dragAndDrop(1, 99)', /no element 99/],
    ['form', 'getText(99)', /no element 99/],
    ['form', 'scroll(true, 1, 99)', /no element 99/],
    ['shop', 'click(3)', /Add to basket.*disabled/],
    ['labels', 'setValue(13, "x")', /disabled/],
    ['form', 'setValue(10, "x")', /takes no text/],
    ['form', 'setValue(3, "Blue")', /use selectDropdown/],
    ['form', 'setValue(6, "yes")', /takes no text/],
    ['form', 'check(10)', /not a box to tick/],
    ['form', 'uncheck(5)', /cannot be unchecked/],
    ['form', 'selectDropdown(1, "x")', /not a list/],
    ['form', 'selectDropdown(3, "Purple")', /no option "Purple"/],
    ['form', 'selectDropdown(3, "Green")', /"Green" is disabled/],
    ['form', 'dropdownOptions(10)', /no list/],
    ['form', 'navigate("javascript:alert(1)")', /not an http/],
    ['form', 'navigate("file:///etc/passwd")', /not an http/],
    ['form', 'navigate("example.com")', /not an http/],
    ['form', 'createTab("data:text/html,x")', /not an http/],
    ['form', 'search(" ")', /nothing to search/],
    ['form', 'findText("")', /no text/],
    ['form', 'press("")', /No key/],
    ['form', 'wait(3600)', /60 seconds/],
  ])('%s.html: %s', (name, action, reason) => {
    expect(problem(name, action)).toMatch(reason);
  });
});

describe('a click on an option of a select', () => {
  const dom =
    '<select id="2"><option id="21">Red</option></select><ul role="listbox"><li id="31" role="option">Red</li></ul>';
  const page = parsePage({ dom }, 1_000);

  test.each(['click', 'doubleClick'] as const)(
    '%s is refused, but not on an option of another list',
    (name) => {
      expect(actionProblem({ name, id: 21 }, page)).toMatch(/option of the list 2: use selectDropdown/);
      expect(actionProblem({ name, id: 31 }, page)).toBeNull();
    },
  );
});

describe('actions of our own extension', () => {
  const written = [
    'clickAt(10, 1, 1)',
    'hoverAt(10, 1, 1)',
    'drag(10, 1, 1, 10, 5, 5)',
    'selectText("x")',
    'numberedScreenshot()',
  ];
  test.each(written)('%s is possible only there', (text) => {
    const action = parseAction(text);
    if (!action) throw new Error(`not an action: ${text}`);
    expect(actionProblem(action, fixture('form'))).toBe(`This browser does not execute ${action.name}.`);
    expect(actionProblem(action, { ...fixture('form'), extended: true })).toBeNull();
  });

  test('they need elements that exist', () => {
    expect(
      actionProblem({ name: 'clickAt', id: 99, x: 1, y: 1 }, { ...fixture('form'), extended: true }),
    ).toBe('There is no element 99 on the page.');
  });
});

test('an option of a list that came as one text is a run of its words', () => {
  const dom = '<select id="12">Red Sky Blue Green </select>';
  const page = parsePage({ dom, url: 'https://a.example/' }, 1_000);
  const problemOf = (value: string) => actionProblem({ name: 'selectDropdown', id: 12, value }, page);
  for (const value of ['Red', 'sky blue', 'Green']) expect(problemOf(value)).toBeNull();
  for (const value of ['Pink', 'Re', 'Blue Sky', '']) expect(problemOf(value)).toContain('has no option');
  expect(actionProblem({ name: 'click', id: 12 }, page)).toContain('use selectDropdown');
  expect(renderPage(page)).toContain('options in one text="Red Sky Blue Green"');
});
