/** Proposes an alternative to a failed action. Every proposal is possible on the current page. */
import type { Action } from './action/action.ts';
import { printAction, sendAction } from './action/print.ts';
import { actionProblem } from './action/problem.ts';
import { elementOf, isSelect, type Page, type PageElement, type Pages } from './page/page.ts';
import { isField, isTicked } from './page/roles.ts';
import { folded } from './page/words.ts';
import type { Verification } from './verify.ts';

export type Strategy =
  | 'ALTERNATIVE_SELECTOR'
  | 'ALTERNATIVE_TOOL'
  | 'GATHER_INFORMATION'
  | 'UPDATE_PLAN'
  | 'RETRY_WITH_DELAY';

/** `retryAction` follows the grammar; with RETRY_WITH_DELAY it is the same action, to be sent after a pause. */
export type Correction = {
  readonly strategy: Strategy;
  readonly reason: string;
  readonly retryAction: string;
};

type Proposal = { readonly strategy: Strategy; readonly reason: string; readonly action: Action };

const LATE = /time[ds]?[\s-]?out|timeout|not ready|loading|network|temporar|pending|not done yet/i;

/**
 * Null if nothing failed, and for actions that end a task. With the previous page, an element with a new number is found
 * again by its name.
 */
export function suggestCorrection(
  action: Action,
  verification: Verification,
  pages: Pages,
): Correction | null {
  if (verification.success || action.name === 'finish' || action.name === 'fail') return null;
  const possible = proposals(action, verification, pages).find(
    (proposal) =>
      actionProblem(proposal.action, pages.after) === null && sendAction(proposal.action) !== null,
  );
  const { strategy, reason, action: retryAction } = possible ?? SCROLL_DOWN;
  return { strategy, reason, retryAction: printAction(retryAction) };
}

const SCROLL_DOWN: Proposal = {
  strategy: 'GATHER_INFORMATION',
  reason: 'The element is not visible: look further down the page.',
  action: { name: 'scroll', down: true },
};

function proposals(action: Action, verification: Verification, { before, after }: Pages): Proposal[] {
  const retryLater: Proposal[] = LATE.test(verification.reason)
    ? [{ strategy: 'RETRY_WITH_DELAY', reason: 'The page may need more time.', action }]
    : [];
  if (!('id' in action)) return [...retryLater, ...retry(action)];
  const element = elementOf(after, action.id);
  if (!element) return [...renumbered(action, after, before), SCROLL_DOWN];
  if (element.state.disabled) return [...requirements(after), SCROLL_DOWN];
  return [...retryLater, ...alternatives(action, element, after), ...retry(action)];
}

const retry = (action: Action): Proposal[] => [
  {
    strategy: 'RETRY_WITH_DELAY',
    reason: 'No obstacle was found: try again after a short delay.',
    action,
  },
];

/** The same action on the element that now has this one's role and name. */
function renumbered(action: Action & { id: number }, after: Page, before: Page | null): Proposal[] {
  const earlier = before && elementOf(before, action.id);
  if (!earlier || earlier.name === '') return [];
  const same = after.elements.filter(
    ({ role, name }) => role === earlier.role && folded(name) === folded(earlier.name),
  );
  return same.slice(0, 1).map(({ id }) => ({
    strategy: 'ALTERNATIVE_SELECTOR',
    reason: `“${earlier.name}” is now element ${id}.`,
    action: { ...action, id },
  }));
}

/** A disabled button mostly waits for a field. */
function requirements(after: Page): Proposal[] {
  const empty = after.elements.filter(
    ({ role, state, value }) =>
      state.required && !state.disabled && ((isField(role) && !value) || (isTicked(role) && !state.checked)),
  );
  return empty.slice(0, 1).map((element) => ({
    strategy: 'UPDATE_PLAN',
    reason: `It is disabled while “${element.name || element.label || element.id}” is empty: fill that in first.`,
    action: { name: 'focus', id: element.id },
  }));
}

function alternatives(action: Action & { id: number }, element: PageElement, after: Page): Proposal[] {
  const { id } = element;
  const tool = (reason: string, other: Action): Proposal => ({
    strategy: 'ALTERNATIVE_TOOL',
    reason,
    action: other,
  });
  switch (action.name) {
    case 'setValue':
      if (isSelect(element))
        return [tool('It is a list.', { name: 'selectDropdown', id, value: action.text })];
      if (isTicked(element.role)) return [tool('It is a checkbox.', { name: 'check', id })];
      if (actionProblem(action, after)) return fieldsBeside(action, after);
      return [tool('Type it key by key instead.', { name: 'type', text: action.text })];
    case 'selectDropdown':
      if (isSelect(element))
        return [
          {
            strategy: 'GATHER_INFORMATION',
            reason: 'List the options first.',
            action: { name: 'dropdownOptions', id },
          },
        ];
      return [tool('Open the list and choose from what it shows.', { name: 'click', id })];
    case 'check':
    case 'uncheck':
      return [tool('Click it instead.', { name: 'click', id })];
    case 'click':
      return [...sameName(element, after), ...followLink(element, after)];
    default:
      return [];
  }
}

/** Another element with the same name. */
const sameName = (element: PageElement, after: Page): Proposal[] =>
  after.elements
    .filter(
      ({ id, role, name, state }) =>
        id > element.id && role === element.role && name === element.name && name !== '' && !state.disabled,
    )
    .slice(0, 1)
    .map(({ id }) => ({
      strategy: 'ALTERNATIVE_SELECTOR',
      reason: `Element ${id} has the same name.`,
      action: { name: 'click', id },
    }));

function followLink({ href }: PageElement, after: Page): Proposal[] {
  const url = href ? URL.parse(href, after.url || undefined)?.href : undefined;
  if (!url || href?.startsWith('#')) return [];
  return [
    { strategy: 'ALTERNATIVE_TOOL', reason: 'Go where the link leads.', action: { name: 'navigate', url } },
  ];
}

/** The element accepts no text; the next field after it may be the intended one. */
function fieldsBeside(action: Action & { name: 'setValue' }, after: Page): Proposal[] {
  const start = after.elements.findIndex(({ id }) => id === action.id);
  return after.elements.slice(start + 1).flatMap(({ id, name }) => {
    const other = { ...action, id };
    if (actionProblem(other, after)) return [];
    return [
      { strategy: 'ALTERNATIVE_SELECTOR' as const, reason: `“${name || id}” takes text.`, action: other },
    ];
  });
}
