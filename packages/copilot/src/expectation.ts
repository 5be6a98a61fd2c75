/** The expected page state after a plan step. Models write it, so every field is validated. */
import type { Action } from './action/action.ts';
import { sameAddress, sameSite } from './address.ts';
import type { Evidence } from './evidence.ts';
import { findElements } from './page/find.ts';
import { elementOf, type Page, type Pages } from './page/page.ts';
import { folded } from './page/words.ts';

/** All given fields must hold. Unknown fields are ignored. */
export type ExpectedOutcome = {
  /** description of the intended element */
  readonly element?: string;
  /** value of that element afterwards */
  readonly value?: string;
  readonly checked?: boolean;
  readonly url?: string;
  readonly urlContains?: string;
  readonly urlChanges?: boolean;
  readonly text?: string;
  readonly textGone?: string;
};

export type OutcomeCheck = { readonly met: boolean; readonly reason: string };

/** Null if nothing can be judged here. A value or a checked state is judged with the action itself. */
export function checkOutcome(
  expected: Readonly<Record<string, unknown>>,
  action: Action,
  { before, after, url, urlChanged }: Pages & Pick<Evidence, 'url' | 'urlChanged'>,
): OutcomeCheck | null {
  const wrong = wrongElement(expected, action, before ?? after);
  if (wrong) return { met: false, reason: wrong };
  const checks: OutcomeCheck[] = [];
  const check = (met: boolean, yes: string, no: string) => checks.push({ met, reason: met ? yes : no });
  const text = (field: string): string | null => {
    const value = expected[field];
    return typeof value === 'string' && value.trim() !== '' ? value : null;
  };
  const address = text('url');
  // The navigation target is judged with the action: sites redirect.
  if (address !== null && URL.canParse(address) && action.name !== 'navigate') {
    const met = sameAddress(address, url) || (isRoot(address) && sameSite(address, url));
    check(met, `The page is ${url}.`, `The page is ${url || 'unknown'}, not ${address}.`);
  }
  const part = text('urlContains');
  if (part !== null)
    check(
      url.toLowerCase().includes(part.toLowerCase()),
      'The address is as expected.',
      `The address ${url} does not contain “${part}”.`,
    );
  if (typeof expected.urlChanges === 'boolean')
    check(
      expected.urlChanges === urlChanged,
      'The address is as expected.',
      urlChanged ? 'The address changed.' : 'The address did not change.',
    );
  // Text cannot be searched if the page came without it.
  const readable = after.textMissing === undefined;
  const appears = text('text');
  if (appears !== null && readable)
    check(hasText(after, appears), `The page says “${appears}”.`, `The page does not say “${appears}”.`);
  const gone = text('textGone');
  if (gone !== null && readable)
    check(!hasText(after, gone), `“${gone}” is gone.`, `The page still says “${gone}”.`);
  return checks.find(({ met }) => !met) ?? checks[0] ?? null;
}

const isRoot = (address: string): boolean => URL.parse(address)?.pathname === '/';

const hasText = (page: Page, text: string): boolean =>
  folded(page.text).includes(folded(text)) ||
  page.elements.some((element) => folded(element.name).includes(folded(text)));

/** The action used an element that does not match the description, although another one does. */
function wrongElement(
  expected: Readonly<Record<string, unknown>>,
  action: Action,
  page: Page,
): string | null {
  const { element: description } = expected;
  if (typeof description !== 'string' || !('id' in action)) return null;
  const matches = findElements(page, description);
  const [best] = matches;
  const used = elementOf(page, action.id);
  if (
    !best ||
    !used ||
    matches.some(({ element, score }) => element.id === used.id && score > best.score - 0.15)
  )
    return null;
  return `The action went to element ${used.id} (${used.role} “${used.name}”), but “${description}” is element ${best.element.id}.`;
}
