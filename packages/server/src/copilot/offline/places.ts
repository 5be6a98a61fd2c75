/** Elements that most pages have: the search field, the password field, the submit button. */
import { findElements } from '../page/find.ts';
import { isSelect, type Page, type PageElement } from '../page/page.ts';
import { wordsOf } from '../page/words.ts';

const TEXT = ['textbox', 'searchbox', 'combobox'];
export const BOXES = ['checkbox', 'switch', 'radio', 'menuitemcheckbox'];
export const FIELD_ROLES = [...TEXT, 'spinbutton', 'slider', 'listbox', 'color'];
const BUTTONS = ['button', 'link', 'menuitem'];

const takesText = (element: PageElement): boolean => {
  const { role, type, state } = element;
  return (
    TEXT.includes(role) && !isSelect(element) && type !== 'password' && !state.disabled && !state.readonly
  );
};

export const textFields = (page: Page): PageElement[] => page.elements.filter(takesText);

export function searchField(page: Page): PageElement | null {
  const fields = textFields(page);
  const about = (element: PageElement) => wordsOf(`${element.name} ${element.label ?? ''}`);
  return (
    fields.find(({ role, type }) => role === 'searchbox' || type === 'search') ??
    fields.find((element) => about(element).includes('search')) ??
    fields.find((element) => about(element).includes('find')) ??
    null
  );
}

export const passwordField = (page: Page): PageElement | null =>
  page.elements.find(({ type, state }) => type === 'password' && !state.disabled) ??
  findElements(page, 'password', TEXT)[0]?.element ??
  null;

export const isLoginPage = (page: Page): boolean => page.elements.some(({ type }) => type === 'password');

/** The field with that name, or else the last text field before the password. */
export function userField(page: Page): PageElement | null {
  for (const called of ['username', 'email', 'login', 'user']) {
    const found = findElements(page, called, TEXT).find(({ element }) => takesText(element));
    if (found) return found.element;
  }
  const password = passwordField(page);
  const before = password ? page.elements.slice(0, page.elements.indexOf(password)) : [];
  return before.findLast(takesText) ?? null;
}

const SENDING = [
  'submit',
  'send',
  'continue',
  'login',
  'save',
  'register',
  'ok',
  'search',
  'go',
  'apply',
  'confirm',
  'next',
];

/**
 * The submit button: the first of a submitting kind after the last filled field, else the first on the page, else one with a
 * matching name.
 */
export function submitButton(page: Page): PageElement | null {
  const usable = page.elements.filter(({ role, state }) => role === 'button' && !state.disabled);
  const called = findElements(page, 'submit', ['button']).find(
    ({ element, score }) => score > 0.75 && !element.state.disabled,
  );
  const filled = page.elements.findLastIndex(
    ({ value, role, state }) => (FIELD_ROLES.includes(role) && Boolean(value)) || state.checked === true,
  );
  const submits = usable.filter(({ type }) => type === 'submit' || type === 'image');
  const after = submits.find((element) => page.elements.indexOf(element) > filled);
  const word = SENDING.map((each) => usable.find(({ name }) => wordsOf(name)[0] === each)).find(Boolean);
  return called?.element ?? after ?? submits[0] ?? word ?? null;
}

/** The button beside a search field. */
export function searchButton(page: Page): PageElement | null {
  const field = searchField(page);
  const start = field ? page.elements.indexOf(field) + 1 : 0;
  const near = page.elements.slice(start, start + 4);
  const isSearch = ({ role, name, type, state }: PageElement) =>
    role === 'button' &&
    !state.disabled &&
    (type === 'submit' || /^(?:search|find|go)\b/.test(wordsOf(name).join(' ')));
  return near.find(isSearch) ?? null;
}

export const loginButton = (page: Page): PageElement | null =>
  findElements(page, 'login', BUTTONS).find(({ score }) => score >= 0.8)?.element ?? null;

const CLOSING = ['close', 'dismiss', 'cancel', 'no thanks', 'got it'];

export function closeButton(page: Page): PageElement | null {
  const marked = page.elements.find(({ role, name }) => role === 'button' && /^[×✕✖x]$/i.test(name));
  for (const called of CLOSING) {
    const [best] = findElements(page, called, BUTTONS);
    if (best && best.score >= 0.8) return best.element;
  }
  return marked ?? null;
}

/** A link or button to the next or previous page, or to a page number. */
export function pageLink(page: Page, to: 'next' | 'previous' | number): PageElement | null {
  const usable = page.elements.filter(({ role, state }) => BUTTONS.includes(role) && !state.disabled);
  if (typeof to === 'number') {
    const named = new RegExp(`^(?:page\\s+)?${to}$|^go to page ${to}$`, 'i');
    return usable.find(({ name }) => named.test(name.trim())) ?? null;
  }
  const signs = to === 'next' ? /^(?:[›»→>]+|>>)$/ : /^(?:[‹«←<]+|<<)$/;
  const words = to === 'next' ? ['next', 'older'] : ['previous', 'newer'];
  const says = ({ name }: PageElement) => wordsOf(name).some((word) => words.includes(word));
  const short = (element: PageElement) => says(element) && wordsOf(element.name).length <= 3;
  return (
    usable.find(short) ?? usable.find(({ name }) => signs.test(name.trim())) ?? usable.find(says) ?? null
  );
}
