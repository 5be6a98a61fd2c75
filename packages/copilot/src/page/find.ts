/** Finds the element that a description means: by kind, name and surrounding text. */
import { type Description, describe, type Roles } from './describe.ts';
import type { Page, PageElement } from './page.ts';
import { folded, wordsOf } from './words.ts';

export type Match = { readonly element: PageElement; readonly score: number };

const MIN_SCORE = 0.35;
/** Elements that are only found by name. */
const PASSIVE = new Set(['generic', 'label', 'form', 'heading', 'img', 'cell', 'columnheader', 'iframe']);

/**
 * Best first, ties in page order. Scores are between 0 and 1: 1 is the exact name, from 0.8 on all words are in the name, from
 * 0.5 on they are in the name and beside it, below that some are missing. With `roles` only these are found.
 */
export function findElements(page: Page, description: string, roles?: readonly string[]): Match[] {
  const wanted = describe(description);
  if (wanted.all.length === 0 && wanted.position === null && !roles) return [];
  const exact = folded(description).replace(/^(?:the|a|an) /, '');
  const matches: Match[] = [];
  for (const element of page.elements) {
    if (roles && !roles.includes(element.role)) continue;
    const score = scoreOf(element, wanted, { exact, restricted: roles !== undefined });
    if (score >= MIN_SCORE) matches.push({ element, score: Math.round(score * 1_000) / 1_000 });
  }
  return wanted.position === null ? best(matches) : atPosition(matches, wanted.position);
}

const best = (matches: readonly Match[]): Match[] => [...matches].sort((a, b) => b.score - a.score);

/** "The second …" counts the elements that match as well as the best, in page order. */
function atPosition(matches: readonly Match[], position: number): Match[] {
  const top = Math.max(...matches.map(({ score }) => score));
  const equals = matches.filter(({ score }) => score > top - 0.02);
  const found = equals.at(position < 0 ? position : position - 1);
  return found ? [found] : [];
}

type Search = {
  /** the description as a name */
  readonly exact: string;
  /** only some roles are searched */
  readonly restricted: boolean;
};

function scoreOf(element: PageElement, wanted: Description, { exact, restricted }: Search): number {
  if (exact !== '' && elementText(element).name === exact) return 1;
  const roleFactor = roleScore(element.role, wanted.roles);
  if (roleFactor === 0) return 0;
  const score = Math.max(
    wanted.words.length > 0
      ? nameScore(element, wanted.words)
      : isOfKind(element, wanted, restricted) && roleFactor === 1
        ? 0.6
        : 0,
    // A name may contain its kind: “Shopping list”.
    wanted.kind !== null && ownWords(element).includes(wanted.kind) ? nameScore(element, wanted.all) : 0,
  );
  return score * roleFactor * (element.state.disabled ? 0.97 : 1);
}

function roleScore(role: string, roles: Roles | null): number {
  if (!roles || roles.plain.includes(role)) return 1;
  return roles.also.includes(role) ? 0.93 : 0;
}

/** "The button", "the second tab": only a kind, without a name. */
const isOfKind = ({ role }: PageElement, { roles }: Description, restricted: boolean): boolean =>
  roles !== null || (restricted && !PASSIVE.has(role));

function nameScore(element: PageElement, wanted: readonly string[]): number {
  const own = ownWords(element);
  const inName = share(wanted, own);
  if (inName === 1) return own.length === wanted.length ? 0.98 : 0.8 + 0.15 * (wanted.length / own.length);
  const inAll = share(wanted, contextWords(element));
  if (inAll === 1) return 0.5 + 0.25 * inName;
  // Half of the words, and at least one in the name itself: better than nothing, and never certain.
  return inAll > 0.5 && inName > 0 ? 0.45 * inAll : 0;
}

type ElementText = { readonly name: string; own?: readonly string[]; ctx?: readonly string[] };

/** A page is searched many times per request: its words are split once, and lazily. */
const elementTexts = new WeakMap<PageElement, ElementText>();

/** Without a name, the surrounding text counts as the name. */
const nameOrLabel = (element: PageElement): string => element.name || (element.label ?? '');

function elementText(element: PageElement): ElementText {
  let text = elementTexts.get(element);
  if (!text) {
    text = { name: folded(nameOrLabel(element)) };
    elementTexts.set(element, text);
  }
  return text;
}

function ownWords(element: PageElement): readonly string[] {
  const text = elementText(element);
  text.own ??= wordsOf(text.name);
  return text.own;
}

function contextWords(element: PageElement): readonly string[] {
  const text = elementText(element);
  text.ctx ??= [...ownWords(element), ...surroundingWords(element)];
  return text.ctx;
}

function share(wanted: readonly string[], words: readonly string[]): number {
  let found = 0;
  for (const word of wanted) {
    const isFound = words.includes(word) || (word.length > 4 && words.some((own) => sharesPrefix(own, word)));
    if (isFound) found++;
  }
  return found / wanted.length;
}

/** Matches "search" and "searching", but not "subscribe" and "subscription". */
const sharesPrefix = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 5 &&
  (one.startsWith(other) || other.startsWith(one)) &&
  Math.abs(one.length - other.length) <= 3;

function surroundingWords({ label, type, value, role, options, optionText = '' }: PageElement): string[] {
  const hints = [
    label ?? '',
    type ?? '',
    role === 'searchbox' ? 'search' : '',
    role === 'button' ? '' : (value ?? ''),
  ];
  const optionTexts = options ? options.map(({ text }) => text) : [];
  return wordsOf([...hints, ...optionTexts.slice(0, 10), optionText.slice(0, 200)].join(' '));
}
