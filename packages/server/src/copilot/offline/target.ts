/** Finds the element that an intent means, and the action on it. */
import type { Action } from '../action/action.ts';
import { findElements } from '../page/find.ts';
import type { Page, PageElement } from '../page/page.ts';
import { FIELD_ROLES, searchField, textFields } from './places.ts';

export type Next =
  | { readonly action: Action; readonly thought: string }
  | { readonly missing: string }
  | { readonly answer: string };

const LEAST = 0.5;

export const act = (action: Action, thought: string): Next => ({ action, thought });

export type Meant = { readonly element: PageElement } | { readonly missing: string };

export function on(target: Meant, make: (element: PageElement) => Action | { missing: string }): Next {
  if ('missing' in target) return target;
  const action = make(target.element);
  return 'missing' in action ? action : act(action, thoughtOf(action, target.element));
}

export const found = (element: PageElement | null, what: string): Meant =>
  element ? { element } : { missing: what };

export const called = ({ role, name, label, id }: PageElement): string =>
  `the ${role} “${name || label || id}”`;

export const pageNamed = (to: 'next' | 'previous' | number): string =>
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

/** One element; if several have the same name and only their surroundings differ, a question. */
export function meant(page: Page, target: string, roles?: readonly string[]): Meant {
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

export function fieldFor(page: Page, target: string | null): Meant {
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
