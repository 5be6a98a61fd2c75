import { describe, expect, test } from 'bun:test';
import type { Action } from './action/action.ts';
import { parseAction } from './action/parse.ts';
import { actionProblem } from './action/problem.ts';
import { type Correction, suggestCorrection } from './correction.ts';
import type { Page, Pages } from './page/page.ts';
import { type FixtureName, fixture } from './testing/fixtures/pages.ts';

const actionOf = (text: string): Action => {
  const action = parseAction(text);
  if (!action) throw new Error(`not an action: ${text}`);
  return action;
};
const form = fixture('form');

describe('corrections', () => {
  const correct = (text: string, reason: string, pages: Pages) =>
    suggestCorrection(actionOf(text), { success: false, confidence: 0.9, reason }, pages);
  const same = (page: Page): Pages => ({ before: page, after: page });

  const moved = fixture('form', ['<button id="10"', '<button id="20"']);
  const blocked = fixture('form', ['<button id="10"', '<button id="10" disabled']);

  const cases: [
    title: string,
    action: string,
    reason: string,
    pages: Pages,
    expected: Partial<Correction>,
  ][] = [
    [
      'an element that was numbered anew',
      'click(10)',
      'gone',
      { before: form, after: moved },
      { strategy: 'ALTERNATIVE_SELECTOR', retryAction: 'click(20)' },
    ],
    [
      'an element that is nowhere',
      'click(99)',
      'gone',
      same(form),
      { strategy: 'GATHER_INFORMATION', retryAction: 'scroll(true)' },
    ],
    [
      'a page that is slow',
      'click(10)',
      'The client reports a failure: timeout',
      same(form),
      { strategy: 'RETRY_WITH_DELAY', retryAction: 'click(10)' },
    ],
    [
      'a link that does nothing',
      'click(7)',
      'did not change',
      same(form),
      { strategy: 'ALTERNATIVE_TOOL', retryAction: 'navigate("https://example.org/terms")' },
    ],
    [
      'a button that does nothing',
      'click(10)',
      'did not change',
      same(form),
      { strategy: 'RETRY_WITH_DELAY', retryAction: 'click(10)' },
    ],
    [
      'one of two of a name',
      'click(1)',
      'did not change',
      { before: null, after: fixture('shop') },
      { strategy: 'ALTERNATIVE_SELECTOR', retryAction: 'click(2)' },
    ],
    [
      'a button that waits for a field',
      'click(10)',
      'disabled',
      { before: form, after: blocked },
      { strategy: 'UPDATE_PLAN', retryAction: 'focus(1)' },
    ],
    [
      'a field that keeps its value',
      'setValue(1, "Ada")',
      'empty',
      same(form),
      { strategy: 'ALTERNATIVE_TOOL', retryAction: 'type("Ada")' },
    ],
    [
      'text for a list',
      'setValue(3, "Blue")',
      'failed',
      same(form),
      { strategy: 'ALTERNATIVE_TOOL', retryAction: 'selectDropdown(3, "Blue")' },
    ],
    [
      'text for a button',
      'setValue(4, "tea")',
      'failed',
      { before: null, after: fixture('list') },
      { strategy: 'ALTERNATIVE_SELECTOR', retryAction: 'setValue(7, "tea")' },
    ],
    [
      'an option that is not there',
      'selectDropdown(3, "Pink")',
      'failed',
      same(form),
      { strategy: 'GATHER_INFORMATION', retryAction: 'dropdownOptions(3)' },
    ],
    [
      'a box that stays empty',
      'check(6)',
      'not checked',
      same(form),
      { strategy: 'ALTERNATIVE_TOOL', retryAction: 'click(6)' },
    ],
    [
      'a browser that stays',
      'navigate("https://example.com")',
      'still',
      same(form),
      { strategy: 'RETRY_WITH_DELAY', retryAction: 'navigate("https://example.com")' },
    ],
  ];
  for (const [title, action, reason, pages, expected] of cases) {
    test(title, () => expect(correct(action, reason, pages)).toMatchObject(expected));
  }

  test('a success and the end of a task need none', () => {
    expect(
      suggestCorrection(actionOf('click(10)'), { success: true, confidence: 1, reason: '' }, same(form)),
    ).toBeNull();
    expect(correct('finish()', 'x', same(form))).toBeNull();
  });

  test('a correction is always a possible action of the grammar', () => {
    const pages: FixtureName[] = ['form', 'list', 'shop', 'tabs', 'labels', 'noise'];
    const actions = ['click', 'check', 'uncheck', 'hover'].flatMap((name) =>
      [1, 3, 6, 13, 99].map((id) => `${name}(${id})`),
    );
    const more = [
      'setValue(1, "x")',
      'setValue(3, "x")',
      'selectDropdown(4, "x")',
      'search("x")',
      'goBack()',
      'press("Enter")',
    ];
    for (const name of pages) {
      for (const action of [...actions, ...more]) {
        const page = fixture(name);
        const retry = parseAction(
          correct(action, 'did not work', { before: null, after: page })?.retryAction ?? '',
        );
        expect(retry && actionProblem(retry, page)).toBeNull();
        expect(retry).not.toBeNull();
      }
    }
  });
});
