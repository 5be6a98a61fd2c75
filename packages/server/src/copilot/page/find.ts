/** Which element of a page a person means: by what it is, what it is called, and what stands beside it. */
import { type Description, describe } from './describe.ts';
import type { Page, PageElement } from './page.ts';
import { folded, wordsOf } from './words.ts';

export type Match = { readonly element: PageElement; readonly score: number };

const LEAST = 0.35;
/** Elements whose only right is to be named: a description without a name does not mean them. */
const PASSIVE = new Set(['generic', 'label', 'form', 'heading', 'img', 'cell', 'columnheader', 'iframe']);

/**
 * The best first, and of equals the first on the page. Scores are between 0 and 1: 1 is the very name, from 0.8 on all words are
 * in the name, from 0.5 on they are in the name and beside it, below that some are missing. With `roles` nothing else is found.
 */
export function findElements(page: Page, description: string, roles?: readonly string[]): Match[] {
  const wanted = describe(description);
  if (wanted.all.length === 0 && wanted.place === null && !roles) return [];
  const exact = folded(description).replace(/^(?:the|a|an) /, '');
  const matches: Match[] = [];
  for (const element of page.elements) {
    if (roles && !roles.includes(element.role)) continue;
    const score = scoreOf(element, wanted, exact, roles !== undefined);
    if (score >= LEAST) matches.push({ element, score: Math.round(score * 1_000) / 1_000 });
  }
  return wanted.place === null ? best(matches) : atPlace(matches, wanted.place);
}

const best = (matches: readonly Match[]): Match[] => [...matches].sort((a, b) => b.score - a.score);

/** "The second …" counts those that fit as well as the best does, in the order of the page. */
function atPlace(matches: readonly Match[], place: number): Match[] {
  const top = Math.max(...matches.map(({ score }) => score));
  const equals = matches.filter(({ score }) => score > top - 0.1);
  const found = equals.at(place < 0 ? place : place - 1);
  return found ? [found] : [];
}

function scoreOf(element: PageElement, wanted: Description, exact: string, restricted: boolean): number {
  const fit = roleFit(element.role, wanted.roles);
  const name = folded(element.name);
  if (name !== '' && name === exact) return 1;
  if (fit === 0) return 0;
  const score = Math.max(
    nameScore(element, wanted.words, restricted || wanted.roles !== null, wanted.place !== null),
    wanted.roles ? nameScore(element, wanted.all, false, false) : 0,
  );
  return score * fit * (element.state.disabled ? 0.97 : 1);
}

/** The first of the roles that a word stands for is the plain one, the others are what people also call so. */
function roleFit(role: string, roles: ReadonlySet<string> | null): number {
  if (!roles) return 1;
  if (!roles.has(role)) return 0;
  const [plain] = roles;
  return role === plain ? 1 : 0.93;
}

function nameScore(
  element: PageElement,
  wanted: readonly string[],
  byKind: boolean,
  counted: boolean,
): number {
  if (wanted.length === 0) return byKind && (counted || !PASSIVE.has(element.role)) ? 0.6 : 0;
  const own = wordsOf(element.name);
  const inName = share(wanted, own);
  if (inName === 1) return own.length === wanted.length ? 0.98 : 0.8 + 0.15 * (wanted.length / own.length);
  const around = [...own, ...aroundOf(element)];
  const inAll = share(wanted, around);
  if (inAll === 1) return 0.5 + 0.25 * inName;
  // Half of the words, and at least one in the name itself: better than nothing, and never taken for certain.
  return inAll > 0.5 && inName > 0 ? 0.45 * inAll : 0;
}

function share(wanted: readonly string[], words: readonly string[]): number {
  const found = wanted.filter((word) => words.some((own) => own === word || startsAlike(own, word)));
  return found.length / wanted.length;
}

/** "subscribe" and "subscription" stay apart; "search" and "searching" do not. */
const startsAlike = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 5 &&
  (one.startsWith(other) || other.startsWith(one)) &&
  Math.abs(one.length - other.length) <= 3;

function aroundOf({ label, type, value, role, options }: PageElement): string[] {
  const hints = [
    label ?? '',
    type ?? '',
    role === 'searchbox' ? 'search' : '',
    role === 'button' ? '' : (value ?? ''),
  ];
  const held = options ? options.map(({ text }) => text) : [];
  return wordsOf([...hints, ...held.slice(0, 10)].join(' '));
}
