/** One step of a browser task: how a plan shows it, and what it does on the page that it meets. */
import {
  type Action,
  actionProblem,
  elementOf,
  findElements,
  type Page,
  type PageElement,
  sendAction,
} from '@parlance/copilot';
import type { JsonObject } from '@parlance/protocol';

export type Next =
  | { readonly action: Action; readonly thought: string }
  | { readonly missing: string }
  | { readonly answer: string };

export type BrowserStep = {
  readonly description: string;
  /** the expected page state afterwards */
  readonly expectedOutcome?: JsonObject;
  /** `changes`: the page may look different afterwards; `leaves`: another, unknown page follows */
  readonly effect?: 'changes' | 'leaves';
  /** it is answered from the text of the page */
  readonly reads?: true;
  readonly resolve: (page: Page) => Next;
};

/** Never returns an action that is impossible on the page, or that a client would read differently. */
export function nextAction(step: BrowserStep, page: Page): Next {
  const next = step.resolve(page);
  const problem = 'action' in next ? (actionProblem(next.action, page) ?? sendProblem(next.action)) : null;
  return problem === null ? next : { missing: problem };
}

const sendProblem = (action: Action): string | null =>
  sendAction(action)
    ? null
    : 'The text contains all three quote characters, which cannot be sent to the browser.';

export type ElementMatch = { readonly element: PageElement } | { readonly missing: string };

export const matchOf = (element: PageElement | null | undefined, what: string): ElementMatch =>
  element ? { element } : { missing: what };

export const describeElement = ({ role, name, label, id }: PageElement): string =>
  `the ${role} “${name || label || id}”`;

const MIN_SCORE = 0.5;

/** One element; if several have the same name and only their surroundings differ, a question. */
export function findTarget(page: Page, target: string, roles?: readonly string[]): ElementMatch {
  const [best, ...others] = findElements(page, target, roles);
  if (!best || best.score < MIN_SCORE) return { missing: `“${target}”` };
  const equals = others.filter(({ score }) => score === best.score).map(({ element }) => element);
  const distinct = equals.filter((other) => isDistinct(best.element, other));
  if (distinct.length === 0) return { element: best.element };
  const places = [best.element, ...distinct].slice(0, 4).map(({ label, name }) => `“${label ?? name}”`);
  return { missing: `which “${target}” is meant: the one beside ${places.join(' or ')}` };
}

const isDistinct = (one: PageElement, other: PageElement): boolean =>
  (one.href === undefined || one.href !== other.href) &&
  (one.label ?? one.name) !== (other.label ?? other.name);

/** The action on an element, with a thought about it. */
export function actOn(
  target: ElementMatch,
  make: (element: PageElement) => Action | { missing: string },
): Next {
  if ('missing' in target) return target;
  const action = make(target.element);
  return 'missing' in action ? action : { action, thought: thoughtOf(action, target.element) };
}

/** Passwords are not repeated. */
function thoughtOf(action: Action, element: PageElement): string {
  switch (action.name) {
    case 'setValue':
      return element.type === 'password'
        ? `I enter the password into ${describeElement(element)}.`
        : `I enter “${action.text}” into ${describeElement(element)}.`;
    case 'selectDropdown':
      return `I choose “${action.value}” in ${describeElement(element)}.`;
    default:
      return `I ${action.name} ${describeElement(element)}.`;
  }
}

export const elementById = (page: Page, id: number | undefined): PageElement | null =>
  id === undefined ? null : elementOf(page, id);
