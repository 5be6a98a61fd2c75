/** Parses a user's description of an element: its kind, its position and its name. */
import { wordsOf } from './words.ts';

export type Description = {
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
export type Roles = { readonly plain: readonly string[]; readonly also: readonly string[] };

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

export function describe(description: string): Description {
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
