/** A description of an element as a person gives it, taken apart: which kind of thing, which one, and what it is called. */
import { wordsOf } from './words.ts';

export type Description = {
  /** all its words */
  readonly all: readonly string[];
  /** its words without those that only say what kind of thing it is */
  readonly words: readonly string[];
  /** the roles it may have; null where nothing is said of that */
  readonly roles: ReadonlySet<string> | null;
  /** the first is 1, the last is -1 */
  readonly place: number | null;
};

const BUTTONS = ['button', 'menuitem', 'tab', 'switch', 'link'];
const FIELDS = ['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider', 'file', 'color'];
const LISTS = ['combobox', 'listbox', 'menu'];

const ROLE_WORDS = new Map<string, readonly string[]>([
  ['button', ['button', 'link', 'menuitem']],
  ['btn', ['button', 'link']],
  ['link', ['link', 'button', 'menuitem']],
  ['icon', [...BUTTONS, 'img']],
  ['image', ['img', 'link', 'button']],
  ['picture', ['img', 'link', 'button']],
  ['field', FIELDS],
  ['input', FIELDS],
  ['textbox', ['textbox', 'searchbox', 'combobox']],
  ['textarea', ['textbox']],
  ['area', ['textbox']],
  ['box', [...FIELDS, 'checkbox', 'listbox']],
  ['bar', ['textbox', 'searchbox', 'combobox']],
  ['list', [...LISTS, 'radiogroup']],
  ['dropdown', [...LISTS, 'button']],
  ['select', LISTS],
  ['selector', LISTS],
  ['menu', [...LISTS, 'button', 'menuitem']],
  ['picker', [...LISTS, 'textbox']],
  ['combobox', LISTS],
  ['checkbox', ['checkbox', 'switch', 'menuitemcheckbox']],
  ['tick', ['checkbox', 'switch']],
  ['check', ['checkbox', 'switch']],
  ['radio', ['radio', 'menuitemradio']],
  ['option', ['option', 'radio', 'menuitem', 'menuitemradio', 'checkbox']],
  ['choice', ['option', 'radio', 'menuitem', 'checkbox']],
  ['switch', ['switch', 'checkbox', 'button']],
  ['toggle', ['switch', 'checkbox', 'button']],
  ['slider', ['slider']],
  ['tab', ['tab', 'link', 'button']],
  ['heading', ['heading']],
  ['row', ['row', 'listitem']],
  ['item', ['listitem', 'row', 'link', 'menuitem', 'option']],
  ['result', ['link', 'listitem', 'row']],
]);

const EMPTY_WORDS = new Set(
  'a an the this that my your our its on in of to for with labelled labeled called named saying says which is marked titled page form please at here'.split(
    ' ',
  ),
);

const PLACES = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'
    .split(' ')
    .map((word, index): [string, number] => [word, index + 1]),
);

export function describe(description: string): Description {
  const all = wordsOf(description);
  const place = placeIn(all);
  const said = all.filter((word) => !EMPTY_WORDS.has(word) && !isPlace(word));
  const kinds = said.filter((word) => ROLE_WORDS.has(word));
  // The last word of a kind is what the thing is; the words before it may be part of its name.
  const kind = kinds.at(-1);
  const words = said.filter((word) => word !== kind && !(kinds.length > 1 && word === 'checkbox'));
  return { all: said, words, roles: kind === undefined ? null : new Set(ROLE_WORDS.get(kind)), place };
}

const isPlace = (word: string): boolean =>
  PLACES.has(word) || word === 'last' || /^\d{1,2}(?:st|nd|rd|th)$/.test(word);

function placeIn(words: readonly string[]): number | null {
  for (const word of words) {
    if (word === 'last') return -1;
    const place = PLACES.get(word) ?? (isPlace(word) ? Number.parseInt(word, 10) : null);
    if (place !== null) return place;
  }
  return null;
}
