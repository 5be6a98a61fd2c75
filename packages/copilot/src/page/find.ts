/** Finds the element that a description means: by kind, name and surrounding text. */

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

// Parses a user's description of an element: its kind, its position and its name.

type Description = {
  /** all its words */
  readonly all: readonly string[];
  /** its words without those that only name a kind */
  readonly words: readonly string[];
  /** the word that names its kind */
  readonly kind: string | null;
  /** possible roles; null if the description names none */
  readonly roles: Roles | null;
  /** the first is 1, the last is -1 */
  readonly position: number | null;
};

/** Meaning of a word, and its synonyms. */
type Roles = { readonly plain: readonly string[]; readonly also: readonly string[] };

const FIELDS = ['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider', 'file', 'color'];
const LISTS = ['combobox', 'listbox'];

const kind = (plain: readonly string[], also: readonly string[] = []): Roles => ({ plain, also });

const ROLE_WORDS = new Map<string, Roles>([
  ['button', kind(['button'], ['link', 'menuitem', 'tab'])],
  ['btn', kind(['button'], ['link'])],
  ['link', kind(['link'], ['button', 'menuitem', 'tab'])],
  ['icon', kind(['img'], ['button', 'link'])],
  ['image', kind(['img'], ['button', 'link'])],
  ['picture', kind(['img'], ['button', 'link'])],
  ['field', kind(FIELDS)],
  ['input', kind(FIELDS)],
  ['textbox', kind(['textbox', 'searchbox'], ['combobox'])],
  ['textarea', kind(['textbox'])],
  ['area', kind(['textbox'])],
  ['box', kind(['textbox', 'searchbox', 'checkbox'], [...FIELDS, 'listbox', 'switch'])],
  ['bar', kind(['searchbox', 'textbox'], ['combobox'])],
  ['list', kind(LISTS, ['menu', 'radiogroup', 'button'])],
  ['dropdown', kind(LISTS, ['menu', 'button'])],
  ['select', kind(LISTS)],
  ['selector', kind(LISTS)],
  ['menu', kind([...LISTS, 'menu'], ['button', 'menuitem', 'link'])],
  ['picker', kind(LISTS, ['textbox', 'button'])],
  ['combobox', kind(LISTS)],
  ['checkbox', kind(['checkbox', 'switch', 'menuitemcheckbox'])],
  ['tick', kind(['checkbox', 'switch'])],
  ['check', kind(['checkbox', 'switch'])],
  ['radio', kind(['radio', 'menuitemradio'])],
  ['option', kind(['option', 'radio', 'menuitemradio'], ['menuitem', 'checkbox'])],
  ['choice', kind(['option', 'radio', 'menuitemradio'], ['menuitem', 'checkbox'])],
  ['switch', kind(['switch'], ['checkbox', 'button'])],
  ['toggle', kind(['switch'], ['checkbox', 'button'])],
  ['slider', kind(['slider'])],
  ['tab', kind(['tab'], ['link', 'button'])],
  ['heading', kind(['heading'])],
  ['row', kind(['row'], ['listitem'])],
  ['item', kind(['listitem', 'row'], ['link', 'menuitem', 'option', 'button'])],
  ['result', kind(['listitem', 'row'], ['link'])],
]);

const EMPTY_WORDS = new Set(
  'a an the this that my your our its on in of to for with labelled labeled called named saying says which is marked titled page form please at here'.split(
    ' ',
  ),
);

const POSITIONS = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'
    .split(' ')
    .map((word, index): [string, number] => [word, index + 1]),
);

function describe(description: string): Description {
  const all = wordsOf(description);
  const position = positionIn(all);
  const meaningful = all.filter((word) => !EMPTY_WORDS.has(word) && !isPosition(word));
  const kinds = meaningful.filter((word) => ROLE_WORDS.has(word));
  // The last word that names a kind counts; earlier ones may be part of the name.
  const last = kinds.at(-1);
  const words = meaningful.filter((word) => word !== last);
  return { all: meaningful, words, kind: last ?? null, roles: ROLE_WORDS.get(last ?? '') ?? null, position };
}

const isPosition = (word: string): boolean =>
  POSITIONS.has(word) || word === 'last' || /^\d{1,2}(?:st|nd|rd|th)$/.test(word);

function positionIn(words: readonly string[]): number | null {
  for (const word of words) {
    if (word === 'last') return -1;
    const position = POSITIONS.get(word) ?? (isPosition(word) ? Number.parseInt(word, 10) : null);
    if (position !== null) return position;
  }
  return null;
}
