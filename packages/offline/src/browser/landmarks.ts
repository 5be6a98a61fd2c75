/** Elements that most pages have: the search field, the password field, the submit button. */
import { findElements, isSelect, type Page, type PageElement, wordsOf } from '@parlance/copilot';

const TEXT = ['textbox', 'searchbox', 'combobox'];
const BUTTONS = ['button', 'link', 'menuitem'];
export const FIELD_ROLES = [
  ...TEXT,
  'spinbutton',
  'slider',
  'listbox',
  'color',
  'checkbox',
  'switch',
  'radio',
];

const takesText = (element: PageElement): boolean =>
  TEXT.includes(element.role) &&
  !isSelect(element) &&
  element.type !== 'password' &&
  !element.state.disabled &&
  !element.state.readonly;

export const textFields = (page: Page): PageElement[] => page.elements.filter(takesText);

export function searchField(page: Page): PageElement | undefined {
  const fields = textFields(page);
  return (
    fields.find(({ role, type }) => role === 'searchbox' || type === 'search') ??
    fields.find(({ name, label }) => wordsOf(`${name} ${label ?? ''}`).includes('search'))
  );
}

/** The button next to the search field. */
export function searchButton(page: Page): PageElement | undefined {
  const field = searchField(page);
  const start = field ? page.elements.indexOf(field) + 1 : 0;
  return page.elements
    .slice(start, start + 4)
    .find(
      ({ role, name, type, state }) =>
        role === 'button' &&
        !state.disabled &&
        (type === 'submit' || /^(?:search|find|go)\b/.test(wordsOf(name).join(' '))),
    );
}

export const passwordField = (page: Page): PageElement | undefined =>
  page.elements.find(({ type, state }) => type === 'password' && !state.disabled);

/** The last text field before the password. */
export function userField(page: Page): PageElement | undefined {
  const password = passwordField(page);
  return password && page.elements.slice(0, page.elements.indexOf(password)).findLast(takesText);
}

/** The button with that name, or the first that submits after the last filled field, or the first that submits. */
export function submitButton(page: Page): PageElement | undefined {
  const buttons = page.elements.filter(({ role, state }) => role === 'button' && !state.disabled);
  const named = findElements(page, 'submit', ['button']).find(
    ({ element, score }) => score > 0.75 && !element.state.disabled,
  );
  const filled = page.elements.findLastIndex(
    ({ value, role, state }) => (FIELD_ROLES.includes(role) && Boolean(value)) || state.checked === true,
  );
  const submits = buttons.filter(({ type }) => type === 'submit' || type === 'image');
  const after = submits.find((element) => page.elements.indexOf(element) > filled);
  return named?.element ?? after ?? submits[0];
}

export const closeButton = (page: Page): PageElement | undefined =>
  ['close', 'dismiss', 'cancel']
    .map((name) => findElements(page, name, BUTTONS)[0])
    .find((best) => best && best.score >= 0.8)?.element;

/** A link or button to the next or previous page. */
export function pageLink(page: Page, to: 'next' | 'previous'): PageElement | undefined {
  const usable = page.elements.filter(({ role, state }) => BUTTONS.includes(role) && !state.disabled);
  const words = to === 'next' ? ['next', 'older'] : ['previous', 'newer'];
  const sign = to === 'next' ? /^[›»→>]+$/ : /^[‹«←<]+$/;
  return (
    usable.find(
      ({ name }) => wordsOf(name).length <= 3 && wordsOf(name).some((word) => words.includes(word)),
    ) ?? usable.find(({ name }) => sign.test(name.trim()))
  );
}
