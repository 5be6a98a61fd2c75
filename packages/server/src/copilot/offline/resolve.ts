/** Resolves an intent on a page to an action, or reports what is missing. */
import type { Action } from '../action/action.ts';
import { fitsPage } from '../action/fits.ts';
import { sendAction } from '../action/print.ts';
import { elementOf, hasMoreOptions, isSelect, type Page, type PageElement } from '../page/page.ts';
import { isTicked } from '../page/roles.ts';
import { folded, wordsOf } from '../page/words.ts';
import type { Intent } from './intent.ts';
import {
  BOXES,
  closeButton,
  loginButton,
  pageLink,
  passwordField,
  searchButton,
  searchField,
  submitButton,
  userField,
} from './places.ts';
import { answerFrom } from './questions.ts';
import { act, called, fieldFor, found, meant, type Next, on, pageNamed } from './target.ts';

export type { Next } from './target.ts';

/** Never returns an action that is impossible on the page, or that a client would read differently. */
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

/** The grammar has no action for an end of the page: a large number of pages leads there. */
const WHOLE_PAGE = 100;

const scrolling = (to: 'up' | 'down' | 'top' | 'bottom'): Action => ({
  name: 'scroll',
  down: to === 'down' || to === 'bottom',
  ...((to === 'top' || to === 'bottom') && { pages: WHOLE_PAGE }),
});

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

/** The matching option, as the page names it; null if it is not among the known ones. */
function optionOf({ options = [], value, name }: PageElement, wanted: string): string | null {
  const text = folded(wanted);
  const option =
    options.find((each) => folded(each.text) === text || folded(each.value) === text) ??
    options.find((each) => folded(each.text).startsWith(text)) ??
    options.find((each) => folded(each.text).includes(text));
  if (option) return option.value;
  // A list whose options run together: the words are in its text.
  const words = wanted.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const within = new RegExp(`(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`, 'iu');
  return (options.length === 0 && words !== '' && within.exec(`${value ?? ''}\n${name}`)?.[0]) || null;
}

/** Options of a select cannot be clicked: naming one is a selection. */
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

/** The option of a select that a description names, alone or with the name of the select. */
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

/** Selects from a list; clicks an option that is an element itself; opens a closed list first. */
function choosing(page: Page, target: string | null, option: string): Next {
  const lists = page.elements.filter(
    ({ role, state }) => LISTS.includes(role) && state.expanded === undefined,
  );
  const holds = (element: PageElement) => optionOf(element, option) !== null;
  const only = lists.filter(holds);
  const named = target === null ? found(only[0] ?? null, `“${option}”`) : meant(page, target, LISTS);
  // No list has that name, but only one has the option.
  const list = 'missing' in named && only.length === 1 ? found(only[0] ?? null, named.missing) : named;
  if ('element' in list && (isSelect(list.element) || only.includes(list.element)))
    return on(list, (element) => optionIn(element, option));
  const choice = meant(page, target === null ? option : `${option} ${target}`, CHOICES);
  const plain = 'missing' in choice ? meant(page, option, CHOICES) : choice;
  if ('element' in plain)
    return isTicked(plain.element.role)
      ? on(plain, ({ id }) => ({ name: 'check', id }))
      : pressed(page, plain.element, { kind: 'click', target: option });
  // Already open, without that option.
  if ('element' in list && list.element.state.expanded)
    return { missing: `“${option}” in ${called(list.element)}` };
  return 'element' in list ? on(list, ({ id }) => ({ name: 'click', id })) : list;
}
