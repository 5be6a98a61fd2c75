/** Verifies the last action from the client's report and the new page. */
import type { Action } from './action/action.ts';

import { type ActionReport, type Evidence, evidenceOf, sameElement, sameState } from './evidence.ts';
import { findElements } from './page/find.ts';
import { elementOf, HIDDEN_VALUE, type Page, type PageElement, type Pages } from './page/page.ts';
import { folded } from './page/words.ts';

export type Verification = {
  readonly success: boolean;
  readonly confidence: number;
  readonly reason: string;
};

export type LastAction = {
  readonly action: Action;
  readonly expectedOutcome?: Readonly<Record<string, unknown>>;
};

const worked = (confidence: number, reason: string): Verification => ({ success: true, confidence, reason });
const failed = (confidence: number, reason: string): Verification => ({ success: false, confidence, reason });

type Observed = Pages & { readonly evidence: Evidence };

export function verifyAction(
  { action, expectedOutcome }: LastAction,
  report: ActionReport,
  pages: Pages,
): Verification {
  const evidence = evidenceOf(report, pages);
  if (evidence.refusal !== null) return failed(0.95, `The client reports a failure: ${evidence.refusal}`);
  const observed: Observed = { ...pages, evidence };
  const outcome = expectedOutcome ? checkOutcome(expectedOutcome, action, { ...pages, ...evidence }) : null;
  if (outcome && !outcome.met) return failed(0.85, outcome.reason);
  const result = verifyEffect(action, observed);
  const verdict = !result.success && isHidden(action, observed) ? fromReport(evidence) : result;
  // The expectation came true, which outweighs missing evidence.
  if (outcome?.met && (verdict.success || verdict.confidence < 0.8))
    return worked(Math.max(0.9, verdict.confidence), outcome.reason);
  return verdict;
}

/**
 * Changes may be invisible in a tree of controls: then the client's report counts. An address and a changed element are
 * visible in any form.
 */
function isHidden(action: Action, { evidence, before, after }: Observed): boolean {
  const { partial, pending, elementMissing, confirmed, pageChanged } = evidence;
  if (!partial || pending || elementMissing || action.name === 'navigate') return false;
  if ('id' in action && before) {
    const [earlier, now] = [elementOf(before, action.id), elementOf(after, action.id)];
    if (earlier && now && !sameElement(earlier, now)) return false;
  }
  return confirmed || pageChanged === null;
}

const fromReport = ({ confirmed }: Evidence): Verification =>
  confirmed
    ? worked(0.6, 'The client reports success. The page was sent without its text.')
    : worked(0.5, 'The client reports no failure. The page was sent without its text.');

function verifyEffect(action: Action, observed: Observed): Verification {
  const { evidence, before, after } = observed;
  switch (action.name) {
    case 'finish':
    case 'fail':
      return worked(1, 'The task is over.');
    case 'navigate':
      return arrived(action.url, evidence, before);
    case 'goBack':
    case 'goForward':
      return evidence.urlChanged ? worked(0.9, `The page is now ${evidence.url}.`) : moved(evidence, 0.6);
    case 'search':
      return searched(action.query, evidence, after);
    case 'setValue':
      return onElement(action.id, observed, (element) => holds(element, action.text, evidence));
    case 'selectDropdown':
      return onElement(action.id, observed, (element) => chosen(element, action.value, evidence));
    case 'check':
    case 'uncheck':
      return onElement(action.id, observed, (element) => ticked(element, action.name === 'check', evidence));
    case 'click':
    case 'doubleClick':
      return clicked(action.id, observed);
    case 'dragAndDrop':
    case 'drag':
    case 'clickAt':
    case 'draw':
    case 'acceptDialog':
    case 'dismissDialog':
      return evidence.confirmed ? worked(0.7, 'The client reports success.') : moved(evidence, 0.5);
    case 'press':
    case 'type':
      return typed(evidence);
    case 'rightClick':
    case 'hover':
    case 'hoverAt':
    case 'selectText':
    case 'focus':
    case 'blur':
    case 'scroll':
    case 'wait':
    case 'findText':
    case 'dropdownOptions':
    case 'createTab':
    case 'switch':
    case 'close':
    case 'getTabs':
    case 'getText':
    case 'getAttribute':
    case 'isVisible':
    case 'isEnabled':
    case 'screenshot':
    case 'numberedScreenshot':
    case 'getCookies':
    case 'getLocalStorage':
    case 'evaluate':
      return evidence.confirmed
        ? worked(0.9, 'The client reports success.')
        : worked(0.6, 'The client reports no failure, and nothing on the page needs to change.');
  }
}

function arrived(
  expected: string,
  { url, urlChanged, confirmed }: Evidence,
  before: Page | null,
): Verification {
  if (url === '')
    return confirmed ? worked(0.5, 'The client reports success.') : failed(0.5, 'The address is unknown.');
  if (sameAddress(expected, url)) return worked(0.95, `The page is ${url}.`);
  if (sameSite(expected, url)) return worked(0.8, `The page is ${url}, on the requested site.`);
  if (urlChanged) return worked(0.5, `The page is ${url}: the site may have redirected from ${expected}.`);
  return failed(0.9, `The page is still ${before?.url || url}.`);
}

function searched(query: string, evidence: Evidence, after: Page): Verification {
  if (evidence.urlChanged) return worked(0.85, `The page is now ${evidence.url}.`);
  if (evidence.pageChanged && folded(after.text).includes(folded(query)))
    return worked(0.8, `The page mentions “${query}”.`);
  return moved(evidence, 0.6);
}

/** Only requires that something changed. */
function moved(
  { pageChanged, changeObserved: stirred, confirmed }: Evidence,
  confidence: number,
): Verification {
  if (pageChanged) return worked(0.75, 'The page changed.');
  if (stirred) return worked(0.55, 'The client observed a change on the page.');
  if (pageChanged === null && confirmed) return worked(0.6, 'The client reports success.');
  return failed(confidence, 'The page did not change.');
}

function typed(evidence: Evidence): Verification {
  if (evidence.urlChanged || evidence.pageChanged) return worked(0.8, 'The page changed.');
  // Typed text does not always show in the markup.
  return evidence.confirmed || evidence.changeObserved
    ? worked(0.5, 'The client reports success, but the page does not show it.')
    : failed(0.5, 'The page did not change, and the client does not report success.');
}

function onElement(
  id: number,
  { evidence, after }: Observed,
  verify: (element: PageElement) => Verification,
): Verification {
  const element = elementOf(after, id);
  if (element) return verify(element);
  if (evidence.urlChanged) return worked(0.6, `The page is now ${evidence.url}.`);
  return failed(0.75, `Element ${id} is no longer on the page.`);
}

const NOT_SHOWN = 'The client reports success, but the page does not show it.';

/** If a client sends no values, its report counts; if it shows another value, it does not. */
function holds(
  element: PageElement,
  expected: string,
  { confirmed, changeObserved: stirred }: Evidence,
): Verification {
  const { value } = element;
  const hidden = value === HIDDEN_VALUE && element.type === 'password';
  if (value === expected || (hidden && expected !== '') || folded(value ?? '') === folded(expected))
    return worked(0.95, `Element ${element.id} contains the text.`);
  if (value === undefined || value === '')
    return confirmed || stirred ? worked(0.5, NOT_SHOWN) : failed(0.6, `Element ${element.id} is empty.`);
  // Long values are cut, and masks and formats change typed text.
  if (value.endsWith('…') && expected.startsWith(value.slice(0, -1)))
    return worked(0.8, `Element ${element.id} begins with the text.`);
  if (lettersOf(value) === lettersOf(expected))
    return worked(0.8, `Element ${element.id} contains the text in another format.`);
  return failed(0.8, `Element ${element.id} holds “${value.slice(0, 60)}”.`);
}

const lettersOf = (text: string): string => folded(text).replace(/[^\p{L}\p{N}]/gu, '');

function chosen(element: PageElement, expected: string, { confirmed }: Evidence): Verification {
  const selected = element.options?.filter((option) => option.selected) ?? [];
  const is = (text: string) => folded(text) === folded(expected);
  if (selected.some((option) => option.value === expected || is(option.text)) || is(element.value ?? ''))
    return worked(0.95, `“${expected}” is chosen.`);
  if (selected.length > 0) return failed(0.75, `“${selected.map(({ text }) => text).join(', ')}” is chosen.`);
  if (element.value) return failed(0.7, `“${element.value.slice(0, 60)}” is chosen.`);
  return confirmed ? worked(0.5, NOT_SHOWN) : failed(0.6, 'Nothing is chosen.');
}

function ticked(element: PageElement, expected: boolean, { confirmed }: Evidence): Verification {
  if (element.state.checked === expected)
    return worked(0.95, `Element ${element.id} is ${expected ? '' : 'not '}checked.`);
  return confirmed
    ? worked(0.5, NOT_SHOWN)
    : failed(0.75, `Element ${element.id} is ${expected ? 'not' : 'still'} checked.`);
}

function clicked(id: number, { evidence, before, after }: Observed): Verification {
  if (evidence.urlChanged) return worked(0.9, `The page is now ${evidence.url}.`);
  const [earlier, now] = [before && elementOf(before, id), elementOf(after, id)];
  if (earlier && now && !sameState(earlier, now)) return worked(0.9, `Element ${id} changed.`);
  if (earlier && !now) return worked(0.8, `Element ${id} is no longer on the page.`);
  if (evidence.pageChanged) return worked(0.8, 'The page changed.');
  if (evidence.elementMissing) return failed(0.85, `The client did not find element ${id}.`);
  if (before && !earlier) return failed(0.8, `There was no element ${id}.`);
  if (evidence.pending) return failed(0.4, 'The action is still pending.');
  return moved(evidence, 0.7);
}

// The expected page state after a plan step: `element` (a description of the intended element), its `value` or `checked`
// afterwards, `url`, `urlContains`, `urlChanges`, `text`, `textGone`. All given fields must hold, unknown ones are
// ignored. Models write it, so every field is validated.

type OutcomeCheck = { readonly met: boolean; readonly reason: string };

/** Null if nothing can be judged here. A value or a checked state is judged with the action itself. */
function checkOutcome(
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

/** Normalizes addresses for comparison: without scheme, `www.`, fragment and trailing slash. */

function sameAddress(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  if (!a || !b) return one === other;
  return hostOf(a) === hostOf(b) && pathOf(a) === pathOf(b) && a.search === b.search;
}

function sameSite(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && hostOf(a) === hostOf(b);
}

const hostOf = (url: URL): string => `${url.hostname.replace(/^www\./, '')}:${url.port}`;
const pathOf = (url: URL): string => url.pathname.replace(/\/+$/, '');
