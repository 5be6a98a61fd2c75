/** The steps that a request can have. */
import {
  type Action,
  findElements,
  folded,
  hasMoreOptions,
  isSelect,
  isTicked,
  optionWithin,
  type Page,
  type PageElement,
  wordsOf,
} from '@parlance/copilot';
import { answerFrom } from './questions.ts';
import {
  actOn,
  type BrowserStep,
  describeElement,
  type ElementMatch,
  elementById,
  findTarget,
  matchOf,
  type Next,
} from './step.ts';

const act = (action: Action, thought: string): Next => ({ action, thought });

/** A step that is the same on every page. */
const always = (action: Action, description: string, effect?: BrowserStep['effect']): BrowserStep => ({
  description,
  effect,
  resolve: () => act(action, `I ${description.charAt(0).toLowerCase()}${description.slice(1)}.`),
});

const clickOrPress = (button: PageElement | undefined, key: string, thought: string): Next =>
  button
    ? act({ name: 'click', id: button.id }, `I click ${describeElement(button)}.`)
    : act({ name: 'press', key }, thought);

const VERBS = { click: 'Click', doubleClick: 'Double-click' } as const;

export function click(target: string, page: Page, name: keyof typeof VERBS = 'click'): BrowserStep {
  const selection = selectionOf(page, target);
  if (selection?.option) return choose(selection.list.name || null, selection.option);
  return {
    description: `${VERBS[name]} ${target}`,
    expectedOutcome: { element: target },
    effect: 'changes',
    resolve: (now) => {
      const selected = selectionOf(now, target);
      return selected ? select(selected) : actOn(findTarget(now, target), ({ id }) => ({ name, id }));
    },
  };
}

export const hover = (target: string): BrowserStep => ({
  description: `Hover over ${target}`,
  effect: 'changes',
  resolve: (page) => actOn(findTarget(page, target), ({ id }) => ({ name: 'hover', id })),
});

export const drag = (target: string, onto: string): BrowserStep => ({
  description: `Drag ${target} to ${onto}`,
  resolve: (page) =>
    actOn(findTarget(page, target), ({ id }) => {
      const place = findTarget(page, onto);
      return 'missing' in place ? place : { name: 'dragAndDrop', from: id, to: place.element.id };
    }),
});

/** `target` is null if no field is named. */
export const fill = (target: string | null, text: string): BrowserStep => ({
  ...(/\b(?:password|passcode|pin)\b/i.test(target ?? '')
    ? { description: `Fill in ${target}` }
    : {
        description: `Enter “${text}”${target === null ? '' : ` into ${target}`}`,
        expectedOutcome: { value: text },
      }),
  resolve: (page) => actOn(fieldFor(page, target), (element) => enter(element, text)),
});

function fieldFor(page: Page, target: string | null): ElementMatch {
  const fields = textFields(page);
  if (target === null)
    return fields.length > 1
      ? { missing: 'which field is meant' }
      : matchOf(fields[0], 'a field to type into');
  const field = findTarget(page, target, FIELD_ROLES);
  return 'missing' in field && /\bsearch\b/i.test(target) ? matchOf(searchField(page), field.missing) : field;
}

export const choose = (target: string | null, option: string): BrowserStep => ({
  description: `Choose “${option}”${target === null ? '' : ` in ${target}`}`,
  expectedOutcome: { value: option },
  effect: 'changes',
  resolve: (page) => chooseOn(page, target, option),
});

const BOXES = ['checkbox', 'switch', 'radio', 'menuitemcheckbox'];

export const tick = (target: string, checked: boolean): BrowserStep => ({
  description: `${checked ? 'Check' : 'Uncheck'} ${target}`,
  expectedOutcome: { checked },
  effect: 'changes',
  resolve: (page) =>
    actOn(findTarget(page, target, BOXES), ({ id }) => ({ name: checked ? 'check' : 'uncheck', id })),
});

export const submit: BrowserStep = {
  description: 'Submit the form',
  effect: 'leaves',
  resolve: (page) =>
    actOn(matchOf(submitButton(page), 'a button to submit with'), ({ id }) => ({ name: 'click', id })),
};

export const login = (user: string, password: string): BrowserStep[] => [
  {
    description: `Enter “${user}” as the user name`,
    expectedOutcome: { value: user },
    resolve: (page) =>
      actOn(matchOf(userField(page), 'a field for the user name'), (field) => enter(field, user)),
  },
  {
    description: 'Enter the password',
    resolve: (page) =>
      actOn(matchOf(passwordField(page), 'a field for the password'), (field) => enter(field, password)),
  },
  submit,
];

export const webSearch = (query: string): BrowserStep =>
  always({ name: 'search', query }, `Search the web for “${query}”`, 'leaves');

/** The page's own search if there is one; an unknown page is assumed to have one. */
export function search(text: string, page: Page): BrowserStep[] {
  if (page.elements.length > 0 && !searchField(page)) return [webSearch(text)];
  return [
    {
      description: `Enter “${text}” into the search field`,
      expectedOutcome: { value: text },
      resolve: (now) => actOn(matchOf(searchField(now), 'a search field'), (field) => enter(field, text)),
    },
    {
      description: 'Start the search',
      effect: 'leaves',
      resolve: (now) => clickOrPress(searchButton(now), 'Enter', 'I press Enter to search.'),
    },
  ];
}

export const visit = (url: string): BrowserStep => ({
  ...always({ name: 'navigate', url }, `Go to ${url}`, 'leaves'),
  expectedOutcome: { url },
});

export const newTab = (url: string): BrowserStep =>
  always({ name: 'createTab', url }, `Open ${url} in a new tab`, 'leaves');

export const turnPage = (to: 'next' | 'previous'): BrowserStep => ({
  description: `Go to the ${to} page`,
  effect: 'leaves',
  resolve: (page) =>
    actOn(matchOf(pageLink(page, to), `a link to the ${to} page`), ({ id }) => ({ name: 'click', id })),
});

export const goBack: BrowserStep = always({ name: 'goBack' }, 'Go back', 'leaves');

export const reload: BrowserStep = {
  description: 'Reload the page',
  effect: 'leaves',
  resolve: ({ url }) => act({ name: 'navigate', url }, 'I reload the page.'),
};

export const press = (key: string): BrowserStep => always({ name: 'press', key }, `Press ${key}`, 'changes');

/** The grammar has no action for an end of the page: a large number of pages leads there. */
const WHOLE_PAGE = 100;

export const scroll = (to: string): BrowserStep => {
  const far = to === 'top' || to === 'bottom';
  const down = to === 'down' || to === 'bottom';
  const action: Action = { name: 'scroll', down, ...(far && { pages: WHOLE_PAGE }) };
  return always(action, far ? `Scroll to the ${to}` : `Scroll ${to}`, 'changes');
};

export const wait = (seconds: number): BrowserStep =>
  always({ name: 'wait', seconds }, `Wait ${seconds} seconds`);

export const acceptDialog: BrowserStep = always({ name: 'acceptDialog' }, 'Accept the dialog', 'changes');
export const dismissDialog: BrowserStep = always({ name: 'dismissDialog' }, 'Dismiss the dialog', 'changes');

export const closeDialog: BrowserStep = {
  description: 'Close the dialog',
  effect: 'changes',
  resolve: (page) => clickOrPress(closeButton(page), 'Escape', 'I press Escape.'),
};

export const answer = (question: string): BrowserStep => ({
  description: `Answer from the page: ${question}`,
  reads: true,
  resolve: (page) => {
    const text = answerFrom(page, question);
    return text === null ? { missing: `an answer to “${question}”` } : { answer: text };
  },
});

// Elements that most pages have: the search field, the password field, the submit button.

const TEXT = ['textbox', 'searchbox', 'combobox'];
const BUTTONS = ['button', 'link', 'menuitem'];
const FIELD_ROLES = [...TEXT, 'spinbutton', 'slider', 'listbox', 'color', 'checkbox', 'switch', 'radio'];

const takesText = (element: PageElement): boolean =>
  TEXT.includes(element.role) &&
  !isSelect(element) &&
  element.type !== 'password' &&
  !element.state.disabled &&
  !element.state.readonly;

const textFields = (page: Page): PageElement[] => page.elements.filter(takesText);

function searchField(page: Page): PageElement | undefined {
  const fields = textFields(page);
  return (
    fields.find(({ role, type }) => role === 'searchbox' || type === 'search') ??
    fields.find(({ name, label }) => wordsOf(`${name} ${label ?? ''}`).includes('search'))
  );
}

/** The button next to the search field. */
function searchButton(page: Page): PageElement | undefined {
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

const passwordField = (page: Page): PageElement | undefined =>
  page.elements.find(({ type, state }) => type === 'password' && !state.disabled);

/** The last text field before the password. */
function userField(page: Page): PageElement | undefined {
  const password = passwordField(page);
  return password && page.elements.slice(0, page.elements.indexOf(password)).findLast(takesText);
}

/** The button with that name, or the first that submits after the last filled field, or the first that submits. */
function submitButton(page: Page): PageElement | undefined {
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

const closeButton = (page: Page): PageElement | undefined =>
  ['close', 'dismiss', 'cancel']
    .map((name) => findElements(page, name, BUTTONS)[0])
    .find((best) => best && best.score >= 0.8)?.element;

/** A link or button to the next or previous page. */
function pageLink(page: Page, to: 'next' | 'previous'): PageElement | undefined {
  const usable = page.elements.filter(({ role, state }) => BUTTONS.includes(role) && !state.disabled);
  const words = to === 'next' ? ['next', 'older'] : ['previous', 'newer'];
  const sign = to === 'next' ? /^[›»→>]+$/ : /^[‹«←<]+$/;
  return (
    usable.find(
      ({ name }) => wordsOf(name).length <= 3 && wordsOf(name).some((word) => words.includes(word)),
    ) ?? usable.find(({ name }) => sign.test(name.trim()))
  );
}

// Lists of options. An option of a native select cannot be clicked: naming it is a selection.

const LISTS = ['combobox', 'listbox'];
const CHOICES = ['option', 'radio', 'menuitemradio', 'menuitem', 'checkbox'];

type Selection = { readonly list: PageElement; readonly option: string | null };

/** The select that a description means, alone or by one of its options; null if it means another element. */
function selectionOf(page: Page, target: string): Selection | null {
  const clicked = findTarget(page, target);
  if ('missing' in clicked) {
    const [list, ...others] = page.elements.filter((element) => optionNamed(element, target) !== null);
    return list && others.length === 0 ? { list, option: optionNamed(list, target) } : null;
  }
  const list = elementById(page, clicked.element.list);
  if (list) return { list, option: clicked.element.name };
  return isSelect(clicked.element)
    ? { list: clicked.element, option: optionNamed(clicked.element, target) }
    : null;
}

function select({ list, option }: Selection): Next {
  if (option === null) return { missing: `which option of ${describeElement(list)} to choose` };
  return actOn({ element: list }, (element) => optionIn(element, option));
}

/** `target` is null if no list is named. */
function chooseOn(page: Page, target: string | null, option: string): Next {
  const holding = page.elements.filter(
    (element) => LISTS.includes(element.role) && optionOf(element, option) !== null,
  );
  const named = target === null ? matchOf(holding[0], `“${option}”`) : findTarget(page, target, LISTS);
  // No list has that name, but only one has the option.
  const list = 'missing' in named && holding.length === 1 ? matchOf(holding[0], named.missing) : named;
  if ('element' in list && (isSelect(list.element) || holding.includes(list.element)))
    return select({ list: list.element, option });
  const choice = findTarget(page, option, CHOICES);
  if ('missing' in choice)
    return 'missing' in list ? list : { missing: `“${option}” in ${describeElement(list.element)}` };
  return actOn(choice, ({ id, role }) => ({ name: isTicked(role) ? 'check' : 'click', id }));
}

/** Enters a text as the kind of field takes it. */
function enter(element: PageElement, text: string): Action | { missing: string } {
  const { id } = element;
  if (isSelect(element)) return optionIn(element, text);
  if (!isTicked(element.role)) return { name: 'setValue', id, text };
  if (/^(?:on|yes|true|checked)$/i.test(text)) return { name: 'check', id };
  return /^(?:off|no|false|unchecked)$/i.test(text)
    ? { name: 'uncheck', id }
    : { missing: `a field for “${text}”` };
}

function optionIn(element: PageElement, wanted: string): Action | { missing: string } {
  const isOpen = hasMoreOptions(element) && element.optionText === undefined;
  const value = optionOf(element, wanted) ?? (isOpen ? wanted : null);
  if (value !== null) return { name: 'selectDropdown', id: element.id, value };
  const texts = element.options?.map(({ text }) => text) ?? [element.optionText ?? ''];
  const known = texts.slice(0, 8).map((text) => `“${text}”`);
  return { missing: `“${wanted}” in ${describeElement(element)}, which has ${known.join(', ')}` };
}

/** The matching option, as the page names it; null if it is not among the known ones. */
function optionOf(element: PageElement, wanted: string): string | null {
  const { options = [], optionText, value, name } = element;
  const text = folded(wanted);
  const option =
    options.find((each) => folded(each.text) === text || folded(each.value) === text) ??
    options.find((each) => folded(each.text).startsWith(text));
  if (option) return option.value;
  // A list whose options run together: the words are in its text.
  if (options.length > 0) return null;
  return optionWithin(optionText ?? `${value ?? ''}\n${name}`, wanted);
}

/** The option that a description names, alone or with the name of the select. */
function optionNamed({ options = [], optionText, name }: PageElement, target: string): string | null {
  const exact = folded(target).replace(/^(?:the |a |an )?(?:option )?| option$/g, '');
  if (optionText !== undefined) return optionWithin(optionText, exact);
  const same = options.find(({ text }) => folded(text) === exact);
  if (same) return same.text;
  const [said, own] = [wordsOf(target), wordsOf(name)];
  const named = options.filter(({ text }) => {
    const words = wordsOf(text);
    return words.some((word) => !own.includes(word)) && words.every((word) => said.includes(word));
  });
  return named.length === 1 ? (named[0]?.text ?? null) : null;
}
