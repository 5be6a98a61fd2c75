import { describe, expect, test } from 'bun:test';
import type { Action } from './action/action.ts';
import { parseAction } from './action/parse.ts';
import type { ActionReport } from './evidence.ts';
import type { Page, Pages } from './page/page.ts';
import { fixture } from './testing/fixtures/pages.ts';
import { verifyAction } from './verify.ts';

const actionOf = (text: string): Action => {
  const action = parseAction(text);
  if (!action) throw new Error(`not an action: ${text}`);
  return action;
};
const at = (page: Page, url: string): Page => ({ ...page, url });
type Last = { readonly report?: ActionReport; readonly expected?: Record<string, unknown> };
const verify = (text: string, pages: Pages, { report = {}, expected }: Last = {}) =>
  verifyAction({ action: actionOf(text), expectedOutcome: expected }, report, pages);

const DONE: ActionReport = { lastActionStatus: 'success' };
const form = fixture('form');

describe('an action that the client reports as failed has failed', () => {
  test.each<[string, ActionReport]>([
    ['a status', { lastActionStatus: 'failure' }],
    ['an error', { lastActionError: { message: 'Element not found', code: 'ELEMENT_NOT_FOUND' } }],
    ['an error beside a success', { ...DONE, lastActionError: { message: 'gone', code: 'X' } }],
    ['a result', { lastActionResult: { success: false } }],
  ])('%s', (_, report) => {
    const { success, confidence, reason } = verify(
      'click(10)',
      { before: form, after: fixture('list') },
      { report },
    );
    expect(success).toBe(false);
    expect(confidence).toBeGreaterThan(0.9);
    expect(reason).toContain('The client reports a failure');
  });
});

test('an element that vanished says nothing about the address', () => {
  const without = fixture('form', ['<button id="10" type="submit">Submit</button>', '']);
  const pages = { before: at(form, 'https://a.example/x'), after: at(without, 'https://a.example/x') };
  const { success, reason } = verify('click(10)', pages, { report: DONE });
  expect(success).toBe(true);
  expect(reason).toBe('Element 10 is no longer on the page.');
});

describe('a successful action is visible on the page', () => {
  const filled = fixture('form', ['name="name" required', 'name="name" value="Ada" required']);
  const chosen = fixture('form', ['<option value="blue">', '<option value="blue" selected>']);
  const ticked = fixture('form', ['name="terms"', 'name="terms" checked']);
  const phone = fixture('form', ['name="name" required', 'name="name" value="(030) 123-45" required']);

  const cases: [title: string, action: string, before: Page, after: Page][] = [
    ['a value is set', 'setValue(1, "Ada")', form, filled],
    ['a value was formatted', 'setValue(1, "03012345")', form, phone],
    ['a password is there', 'setValue(2, "x")', fixture('login'), fixture('login')],
    ['an option is chosen by its value', 'selectDropdown(3, "blue")', form, chosen],
    ['an option is chosen by its text', 'selectDropdown(3, "Blue")', form, chosen],
    ['a box is checked', 'check(6)', form, ticked],
    ['a box is not checked any more', 'uncheck(6)', ticked, form],
    ['a click ticked a box', 'click(6)', form, ticked],
    ['a click opened another page', 'click(10)', form, fixture('list')],
    [
      'a click made its element vanish',
      'click(10)',
      form,
      fixture('form', ['<button id="10" type="submit">Submit</button>', '']),
    ],
    ['a click changed the text', 'click(10)', form, fixture('form', ['<h1>', '<p>Thank you!</p><h1>'])],
    [
      'a tab is selected',
      'click(2)',
      fixture('tabs'),
      fixture('tabs', ['id="2" aria-selected="false"', 'id="2" aria-selected="true"']),
    ],
    ['the browser went there', 'navigate("https://www.example.com")', form, at(form, 'https://example.com/')],
    [
      'the browser was sent on within the site',
      'navigate("https://example.com/a")',
      form,
      at(form, 'https://example.com/b'),
    ],
    ['the browser went back', 'goBack()', form, at(form, 'https://example.org/other')],
    ['a search led to another page', 'search("x")', form, at(form, 'https://search.example/?q=x')],
    ['the task is over', 'finish()', form, form],
  ];
  for (const [title, action, before, after] of cases) {
    test(title, () => {
      const verification = verify(action, { before, after }, { report: { url: after.url } });
      expect(verification).toMatchObject({ success: true });
      expect(verification.confidence).toBeGreaterThan(0.7);
    });
  }
});

describe('an action without effect is detected', () => {
  const stale = fixture('form', ['name="name" required', 'name="name" value="Bob" required']);
  const red = fixture('form', ['<option value="red">', '<option value="red" selected>']);
  const fieldGone = fixture('form', ['<input id="1" name="name" required>', '']);

  const cases: [title: string, action: string, report: ActionReport, after: Page, reason: RegExp][] = [
    ['the page did not change at all', 'click(10)', DONE, form, /did not change/],
    ['there never was such an element', 'click(99)', DONE, form, /no element 99/],
    [
      'the client did not find it',
      'click(10)',
      { clientVerification: { elementFound: false } },
      form,
      /did not find/,
    ],
    ['the client is not done', 'click(10)', { lastActionStatus: 'pending' }, form, /still pending/],
    ['the field holds something else', 'setValue(1, "Ada")', DONE, stale, /holds “Bob”/],
    ['the field is empty', 'setValue(1, "Ada")', {}, form, /is empty/],
    ['the field vanished', 'setValue(1, "Ada")', DONE, fieldGone, /no longer on the page/],
    ['another option is chosen', 'selectDropdown(3, "blue")', DONE, red, /“Red” is chosen/],
    ['the box is not checked', 'check(6)', {}, form, /not checked/],
    ['the browser stayed where it was', 'navigate("https://example.com")', DONE, form, /still/],
    ['the browser did not go back', 'goBack()', DONE, form, /did not change/],
  ];
  for (const [title, action, report, after, reason] of cases) {
    test(title, () => {
      const verification = verify(action, { before: form, after }, { report });
      expect(verification.success).toBe(false);
      expect(verification.reason).toMatch(reason);
    });
  }
});

describe('a client that shows little is trusted, with low confidence', () => {
  const cases: [title: string, action: string, report: ActionReport, before: Page | null][] = [
    ['values are not in the markup', 'setValue(1, "Ada")', DONE, form],
    ['ticks are not in the markup', 'check(6)', DONE, form],
    ['something moved', 'click(10)', { clientObservations: { didNetworkOccur: true } }, form],
    ['no page to compare with', 'click(10)', DONE, null],
    ['keys', 'press("Enter")', DONE, form],
  ];
  for (const [title, action, report, before] of cases) {
    test(title, () => {
      const { success, confidence } = verify(action, { before, after: form }, { report });
      expect(success).toBe(true);
      expect(confidence).toBeLessThanOrEqual(0.6);
    });
  }
});

describe('expectations of a step are judged', () => {
  const thanks = fixture('form', ['<h1>', '<p>Thank you!</p><h1>']);

  const cases: [
    title: string,
    action: string,
    after: Page,
    expected: Record<string, unknown>,
    success: boolean,
  ][] = [
    ['text that appears', 'click(10)', thanks, { text: 'thank you' }, true],
    ['text that does not', 'click(10)', thanks, { text: 'Order 77' }, false],
    ['text that goes', 'click(10)', thanks, { textGone: 'Thank you' }, false],
    ['part of an address', 'click(10)', at(form, 'https://example.org/done'), { urlContains: '/done' }, true],
    [
      'an address',
      'click(10)',
      at(form, 'https://example.org/done'),
      { url: 'https://example.org/other' },
      false,
    ],
    ['that the address changes', 'click(10)', thanks, { urlChanges: true }, false],
    ['the right element', 'click(10)', thanks, { element: 'the Submit button' }, true],
    ['another element', 'click(11)', thanks, { element: 'the Submit button' }, false],
    ['words of its own', 'click(10)', thanks, { mood: 'good', text: 7, url: {} }, true],
  ];
  for (const [title, action, after, expected, success] of cases) {
    test(title, () => {
      const report = { ...DONE, url: after.url };
      expect(verify(action, { before: form, after }, { report, expected }).success).toBe(success);
    });
  }
});

test('a stored page compares equal', () => {
  const kept = JSON.parse(JSON.stringify(form, (_, value: unknown) => value)) as Page;
  const turned = {
    ...kept,
    elements: kept.elements.map(({ state, ...rest }) => ({
      state: Object.fromEntries(Object.entries(state).reverse()),
      ...rest,
    })),
  };
  expect(verify('click(10)', { before: turned, after: form }).success).toBe(false);
});
