import { describe, expect, test } from 'bun:test';
import type { Action } from './action/action.ts';
import { fitsPage } from './action/fits.ts';
import { parseAction } from './action/parse.ts';
import { suggestCorrection } from './correction.ts';
import { type FixtureName, fixture } from './fixtures/pages.ts';
import type { Page } from './page/page.ts';

const actionOf = (text: string): Action => {
  const action = parseAction(text);
  if (!action) throw new Error(`not an action: ${text}`);
  return action;
};
const form = fixture('form');

describe('corrections', () => {
  const correct = (text: string, reason: string, after: Page, before: Page | null = null) =>
    suggestCorrection(actionOf(text), { success: false, confidence: 0.9, reason }, after, before);

  const moved = fixture('form', ['<button id="10"', '<button id="20"']);
  const blocked = fixture('form', ['<button id="10"', '<button id="10" disabled']);

  test.each<[string, string, string, Page, Page | null, string, string]>([
    [
      'an element that was numbered anew',
      'click(10)',
      'gone',
      moved,
      form,
      'ALTERNATIVE_SELECTOR',
      'click(20)',
    ],
    ['an element that is nowhere', 'click(99)', 'gone', form, form, 'GATHER_INFORMATION', 'scroll(true)'],
    [
      'a page that is slow',
      'click(10)',
      'The client could not do it: timeout',
      form,
      form,
      'RETRY_WITH_DELAY',
      'click(10)',
    ],
    [
      'a link that does nothing',
      'click(7)',
      'did not change',
      form,
      form,
      'ALTERNATIVE_TOOL',
      'navigate("https://example.org/terms")',
    ],
    [
      'a button that does nothing',
      'click(10)',
      'did not change',
      form,
      form,
      'RETRY_WITH_DELAY',
      'click(10)',
    ],
    [
      'one of two of a name',
      'click(1)',
      'did not change',
      fixture('shop'),
      null,
      'ALTERNATIVE_SELECTOR',
      'click(2)',
    ],
    ['a button that waits for a field', 'click(10)', 'disabled', blocked, form, 'UPDATE_PLAN', 'focus(1)'],
    [
      'a field that keeps its value',
      'setValue(1, "Ada")',
      'empty',
      form,
      form,
      'ALTERNATIVE_TOOL',
      'type("Ada")',
    ],
    [
      'text for a list',
      'setValue(3, "Blue")',
      'failed',
      form,
      form,
      'ALTERNATIVE_TOOL',
      'selectDropdown(3, "Blue")',
    ],
    [
      'text for a button',
      'setValue(4, "tea")',
      'failed',
      fixture('list'),
      null,
      'ALTERNATIVE_SELECTOR',
      'setValue(7, "tea")',
    ],
    [
      'an option that is not there',
      'selectDropdown(3, "Pink")',
      'failed',
      form,
      form,
      'GATHER_INFORMATION',
      'dropdownOptions(3)',
    ],
    ['a box that stays empty', 'check(6)', 'not checked', form, form, 'ALTERNATIVE_TOOL', 'click(6)'],
    [
      'a browser that stays',
      'navigate("https://example.com")',
      'still',
      form,
      form,
      'RETRY_WITH_DELAY',
      'navigate("https://example.com")',
    ],
  ])('%s', (_, action, reason, after, before, strategy, retryAction) => {
    expect(correct(action, reason, after, before)).toMatchObject({ strategy, retryAction });
  });

  test('a success and the end of a task need none', () => {
    expect(
      suggestCorrection(actionOf('click(10)'), { success: true, confidence: 1, reason: '' }, form),
    ).toBeNull();
    expect(correct('finish()', 'x', form)).toBeNull();
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
        const retry = parseAction(correct(action, 'did not work', page)?.retryAction ?? '');
        expect(retry && fitsPage(retry, page)).toBeNull();
        expect(retry).not.toBeNull();
      }
    }
  });
});
