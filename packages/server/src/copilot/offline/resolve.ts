/** An intent and a page make an action, or it is said what is missing for one. */
import type { Action } from '../action/action.ts';
import { fitsPage } from '../action/fits.ts';
import { sendAction } from '../action/print.ts';
import { findElements } from '../page/find.ts';
import { elementOf, hasMoreOptions, isSelect, type Page, type PageElement } from '../page/page.ts';
import { isTicked } from '../page/roles.ts';
import { folded, wordsOf } from '../page/words.ts';
import type { Intent } from './intent.ts';
import {
  BOXES,
  closeButton,
  FIELD_ROLES,
  loginButton,
  pageLink,
  passwordField,
  searchButton,
  searchField,
  submitButton,
  textFields,
  userField,
} from './places.ts';
import { answerFrom } from './questions.ts';

export type Next =
  | { readonly action: Action; readonly thought: string }
  | { readonly missing: string }
  | { readonly answer: string };

const LEAST = 0.5;

/** Never an action that does not fit the page, or that a client would read as another one. */
export function nextAction(intent: Intent, page: Page): Next {
  const next = resolve(intent, page);
  const problem = 'action' in next ? (fitsPage(next.action, page) ?? unsendable(next.action)) : null;
  return problem === null ? next : { missing: problem };
}

const unsendable = (action: Action): string | null =>
  sendAction(action) ? null : 'That has all three kinds of quotes, which the browser cannot be sent.';

function resolve(intent: Intent, page: Page): Next {
  switch (intent.kind) {
    case 'click':
    case 'doubleClick':
      return clicking(page, intent);
    case 'rightClick':
    case 'hover':
      return on(meant(page, intent.target), ({ id }) => ({ name: intent.kind, id }));
    case 'drag':
      return on(meant(page, intent.target), ({ id }) => {
        const onto = meant(page, intent.onto);
        return 'missing' in onto ? onto : { name: 'dragAndDrop', from: id, to: onto.element.id };
      });
    case 'fill':
      return on(fieldFor(page, intent.target), (element) => filling(element, intent.text));
    case 'choose':
      return choosing(page, intent.target, intent.option);
    case 'tick':
      return on(meant(page, intent.target, BOXES), ({ id }) => ({
        name: intent.on ? 'check' : 'uncheck',
        id,
      }));
    case 'fillSearch':
      return on(found(searchField(page), 'a search field'), ({ id }) => ({
        name: 'setValue',
        id,
        text: intent.text,
      }));
    case 'sendSearch': {
      const button = searchButton(page);
      return button
        ? act({ name: 'click', id: button.id }, `I click ${called(button)}.`)
        : act({ name: 'press', key: 'Enter' }, 'I press Enter to search.');
    }
    case 'webSearch':
      return act({ name: 'search', query: intent.text }, `I search the web for “${intent.text}”.`);
    case 'fillUser':
      return on(found(userField(page), 'a field for the user name'), ({ id }) => ({
        name: 'setValue',
        id,
        text: intent.text,
      }));
    case 'fillPassword':
      return on(found(passwordField(page), 'a field for the password'), ({ id }) => ({
        name: 'setValue',
        id,
        text: intent.text,
      }));
    case 'submit':
      return on(found(submitButton(page), 'a button to submit with'), ({ id }) => ({ name: 'click', id }));
    case 'login':
      return on(found(loginButton(page), 'a way to log in'), ({ id }) => ({ name: 'click', id }));
    case 'turnPage':
      return on(found(pageLink(page, intent.to), pageNamed(intent.to)), ({ id }) => ({ name: 'click', id }));
    case 'closeDialog': {
      const button = closeButton(page);
      return button
        ? act({ name: 'click', id: button.id }, `I click ${called(button)}.`)
        : act({ name: 'press', key: 'Escape' }, 'I press Escape.');
    }
    case 'visit':
      return act({ name: 'navigate', url: intent.url }, `I go to ${intent.url}.`);
    case 'newTab':
      return act({ name: 'createTab', url: intent.url }, 'I open a new tab.');
    case 'history':
      return act({ name: intent.to === 'back' ? 'goBack' : 'goForward' }, `I go ${intent.to}.`);
    case 'reload':
      return act({ name: 'navigate', url: page.url }, 'I load the page again.');
    case 'press':
      return act({ name: 'press', key: intent.key }, `I press ${intent.key}.`);
    case 'scroll':
      return act(
        scrolling(intent.to),
        `I scroll ${intent.to === 'up' || intent.to === 'down' ? intent.to : `to the ${intent.to}`}.`,
      );
    case 'wait':
      return act({ name: 'wait', seconds: intent.seconds }, `I wait ${intent.seconds} seconds.`);
    case 'dialog':
      return act(
        { name: intent.accept ? 'acceptDialog' : 'dismissDialog' },
        `I ${intent.accept ? 'accept' : 'dismiss'} the dialog.`,
      );
    case 'findText':
      return act({ name: 'findText', text: intent.text }, `I look for “${intent.text}”.`);
    case 'answer': {
      const answer = answerFrom(page, intent.question);
      return answer === null ? { missing: `an answer to “${intent.question}”` } : { answer };
    }
  }
}

/** There is no word for an end of the page: more pages than it has lead there. */
const WHOLE_PAGE = 100;

const scrolling = (to: 'up' | 'down' | 'top' | 'bottom'): Action => ({
  name: 'scroll',
  down: to === 'down' || to === 'bottom',
  ...((to === 'top' || to === 'bottom') && { pages: WHOLE_PAGE }),
});

const act = (action: Action, thought: string): Next => ({ action, thought });

type Meant = { readonly element: PageElement } | { readonly missing: string };

function on(target: Meant, make: (element: PageElement) => Action | { missing: string }): Next {
  if ('missing' in target) return target;
  const action = make(target.element);
  return 'missing' in action ? action : act(action, thoughtOf(action, target.element));
}

const found = (element: PageElement | null, what: string): Meant =>
  element ? { element } : { missing: what };

const called = ({ role, name, label, id }: PageElement): string => `the ${role} “${name || label || id}”`;

const pageNamed = (to: 'next' | 'previous' | number): string =>
  typeof to === 'number' ? `a link to page ${to}` : `a link to the ${to} page`;

/** Passwords are not repeated. */
function thoughtOf(action: Action, element: PageElement): string {
  switch (action.name) {
    case 'setValue':
      if (action.text === '') return `I clear ${called(element)}.`;
      return element.type === 'password'
        ? `I enter the password into ${called(element)}.`
        : `I enter “${action.text}” into ${called(element)}.`;
    case 'selectDropdown':
      return `I choose “${action.value}” in ${called(element)}.`;
    case 'check':
    case 'uncheck':
      return `I ${action.name} ${called(element)}.`;
    case 'hover':
      return `I hover over ${called(element)}.`;
    default:
      return `I ${action.name === 'click' ? 'click' : action.name} ${called(element)}.`;
  }
}

/** One element; where several are called the same and only their surroundings tell them apart, that is a question. */
function meant(page: Page, target: string, roles?: readonly string[]): Meant {
  const matches = findElements(page, target, roles);
  const [best, ...others] = matches;
  if (!best || best.score < LEAST) return { missing: `“${target}”` };
  const equals = others.filter(({ score }) => score === best.score).map(({ element }) => element);
  const apart = equals.filter((other) => isAnother(best.element, other));
  if (apart.length === 0) return { element: best.element };
  const places = [best.element, ...apart].slice(0, 4).map(({ label, name }) => `“${label ?? name}”`);
  return { missing: `which “${target}” is meant: the one beside ${places.join(' or ')}` };
}

const isAnother = (one: PageElement, other: PageElement): boolean =>
  (one.href === undefined || one.href !== other.href) &&
  (one.label ?? one.name) !== (other.label ?? other.name);

function fieldFor(page: Page, target: string | null): Meant {
  if (target === null) {
    const fields = textFields(page);
    if (fields.length > 1) return { missing: 'which field is meant' };
    return found(fields[0] ?? null, 'a field to type into');
  }
  const field = meant(page, target, [...FIELD_ROLES, 'checkbox', 'switch', 'radio']);
  if (!('missing' in field)) return field;
  const search = /\bsearch\b/i.test(target) ? searchField(page) : null;
  return search ? { element: search } : field;
}

const ON = /^(?:on|yes|true|checked|ticked|enabled)$/i;
const OFF = /^(?:off|no|false|unchecked|unticked|disabled)$/i;

function filling(element: PageElement, text: string): Action | { missing: string } {
  const { id } = element;
  if (isSelect(element)) return optionIn(element, text);
  if (!isTicked(element.role)) return { name: 'setValue', id, text };
  if (ON.test(text)) return { name: 'check', id };
  return OFF.test(text) ? { name: 'uncheck', id } : { missing: `a field for “${text}”` };
}

function optionIn(element: PageElement, wanted: string): Action | { missing: string } {
  const value = optionOf(element, wanted) ?? (hasMoreOptions(element) ? wanted : null);
  if (value !== null) return { name: 'selectDropdown', id: element.id, value };
  const known = (element.options ?? []).slice(0, 8).map((each) => `“${each.text}”`);
  return { missing: `“${wanted}” in ${called(element)}, which has ${known.join(', ')}` };
}

/** The option that is meant, as the page names it; null where it is not among those that are known. */
function optionOf({ options = [], value, name }: PageElement, wanted: string): string | null {
  const text = folded(wanted);
  const option =
    options.find((each) => folded(each.text) === text || folded(each.value) === text) ??
    options.find((each) => folded(each.text).startsWith(text)) ??
    options.find((each) => folded(each.text).includes(text));
  if (option) return option.value;
  // A list whose options run together: the words are there all the same.
  const words = wanted.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const within = new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, 'iu');
  return (options.length === 0 && words !== '' && within.exec(`${value ?? ''}\n${name}`)?.[0]) || null;
}

/** Options of a select cannot be clicked: what names one is a choice. */
function clicking(page: Page, intent: Extract<Intent, { kind: 'click' | 'doubleClick' }>): Next {
  const { kind, target } = intent;
  const clicked = meant(page, target);
  if ('missing' in clicked) {
    const lists = page.elements.filter((element) => optionNamed(element, target) !== null);
    const [list] = lists;
    return list && lists.length === 1 ? chosen(list, optionNamed(list, target) ?? target) : clicked;
  }
  return pressed(page, clicked.element, { kind, target });
}

function pressed(
  page: Page,
  element: PageElement,
  { kind, target }: { kind: 'click' | 'doubleClick'; target: string },
): Next {
  const list = element.list === undefined ? null : elementOf(page, element.list);
  if (list) return chosen(list, element.name);
  if (!isSelect(element)) return on({ element }, ({ id }) => ({ name: kind, id }));
  const option = optionNamed(element, target);
  return option === null
    ? { missing: `which option of ${called(element)} to choose` }
    : chosen(element, option);
}

const chosen = (list: PageElement, option: string): Next =>
  on({ element: list }, (element) => optionIn(element, option));

/** The option of a select that a description names, alone or beside the name of the select. */
function optionNamed({ options = [], name }: PageElement, target: string): string | null {
  const exact = folded(target).replace(/^(?:the |a |an )?(?:option )?| option$/g, '');
  const same = options.find(({ text }) => folded(text) === exact);
  if (same) return same.text;
  const [said, own] = [wordsOf(target), wordsOf(name)];
  const named = options.filter(({ text }) => {
    const words = wordsOf(text);
    return words.some((word) => !own.includes(word)) && words.every((word) => said.includes(word));
  });
  return named.length === 1 ? (named[0]?.text ?? null) : null;
}

const LISTS = ['combobox', 'listbox'];
const CHOICES = ['option', 'radio', 'menuitemradio', 'menuitem', 'checkbox'];

/** A list is chosen from; where the choices are elements themselves, one is clicked; a closed list is opened first. */
function choosing(page: Page, target: string | null, option: string): Next {
  const lists = page.elements.filter(
    ({ role, state }) => LISTS.includes(role) && state.expanded === undefined,
  );
  const holds = (element: PageElement) => optionOf(element, option) !== null;
  const only = lists.filter(holds);
  const named = target === null ? found(only[0] ?? null, `“${option}”`) : meant(page, target, LISTS);
  // Nothing is called so, but only one list has the option.
  const list = 'missing' in named && only.length === 1 ? found(only[0] ?? null, named.missing) : named;
  if ('element' in list && (isSelect(list.element) || only.includes(list.element)))
    return on(list, (element) => optionIn(element, option));
  const choice = meant(page, target === null ? option : `${option} ${target}`, CHOICES);
  const plain = 'missing' in choice ? meant(page, option, CHOICES) : choice;
  if ('element' in plain)
    return isTicked(plain.element.role)
      ? on(plain, ({ id }) => ({ name: 'check', id }))
      : pressed(page, plain.element, { kind: 'click', target: option });
  // Open already, and the choice is not there.
  if ('element' in list && list.element.state.expanded)
    return { missing: `“${option}” in ${called(list.element)}` };
  return 'element' in list ? on(list, ({ id }) => ({ name: 'click', id })) : list;
}
