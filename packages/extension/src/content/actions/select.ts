/** Lists of options: native ones, and those that pages build themselves. */

import { elementsIn } from '../dom/flat-tree.ts';
import { isDisabled, isInput, isLink, isSelect, isSubmitter, roleOf } from '../dom/kinds.ts';
import { folded, oneLine, textOf } from '../dom/text.ts';
import { isRendered, isVisible } from '../dom/visibility.ts';
import { clickAt, giveFocus, sendChange, sendInput } from '../events.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { fillElement } from './fill.ts';
import { frames, reachElement, usable } from './reach.ts';

export type Choice = {
  readonly value: string;
  readonly text: string;
  readonly selected: boolean;
  readonly disabled: boolean;
};

const MAX_SHOWN = 30;

export async function dropdownOptions(id: number): Promise<Choice[]> {
  const element = usable(id);
  const suggested = suggestionsOf(element);
  if (isSelect(element) || suggested.length > 0)
    return (isSelect(element) ? [...element.options] : suggested).map(choiceOf);
  const options = await openOptions(element);
  return options.map((option) => ({
    value: option.getAttribute('data-value') ?? textOf(option, 100),
    text: textOf(option, 100),
    selected: option.getAttribute('aria-selected') === 'true',
    disabled: isDisabled(option),
  }));
}

export async function selectDropdown(id: number, value: string): Promise<void> {
  await chooseIn(usable(id), value);
}

async function chooseIn(element: HTMLElement, value: string): Promise<void> {
  if (isSelect(element)) return await chooseNative(element, value);
  const suggested = suggestionsOf(element);
  if (suggested.length > 0) return await fillElement(element, find(suggested, value)?.value ?? value);
  for (const each of await valuesIn(element, value)) await chooseOption(element, each);
}

/** Options of the `datalist` of a field. */
const suggestionsOf = (element: HTMLElement): readonly HTMLOptionElement[] =>
  isInput(element) && element.list ? [...element.list.options] : [];

/** Several values, separated by commas, for a list that takes several. */
async function valuesIn(element: HTMLElement, value: string): Promise<readonly string[]> {
  if (element.getAttribute('aria-multiselectable') !== 'true' || !value.includes(',')) return [value];
  const options = await openOptions(element);
  return optionNamed(options, value) ? [value] : value.split(/\s*,\s*/);
}

async function chooseOption(element: HTMLElement, value: string): Promise<void> {
  const options = await openOptions(element);
  const option = optionNamed(options, value);
  if (!option)
    throw missing(
      element,
      value,
      options.map((each) => textOf(each, 60)),
    );
  if (isDisabled(option))
    throw refused(element, `has the option ${JSON.stringify(value)}, but it is disabled`);
  const { target, at } = await reachElement(option);
  clickAt(target, { at });
  await frames(1);
}

const optionNamed = (options: readonly HTMLElement[], value: string): HTMLElement | null =>
  best(options, value, (each) => [each.getAttribute('data-value') ?? '', textOf(each, 200)]);

async function chooseNative(select: HTMLSelectElement, value: string): Promise<void> {
  await reachElement(select);
  const options = [...select.options];
  const wanted = select.multiple && !find(options, value) ? value.split(/\s*[,\n]\s*/) : [value];
  const chosen = wanted.map((each) => {
    const option = find(options, each);
    if (!option)
      throw missing(
        select,
        each,
        options.map(({ label, text }) => oneLine(label || text, 60)),
      );
    if (choiceOf(option).disabled)
      throw refused(select, `has the option ${JSON.stringify(each)}, but it is disabled`);
    return option;
  });
  giveFocus(select);
  // A list of values replaces the selection; a single one is added to it.
  if (wanted.length > 1) for (const option of options) option.selected = false;
  for (const option of chosen) option.selected = true;
  sendInput(select, '', null);
  sendChange(select);
}

const find = (options: readonly HTMLOptionElement[], value: string): HTMLOptionElement | null =>
  best(options, value, (option) => [option.value, option.label || option.text]);

const choiceOf = (option: HTMLOptionElement): Choice => ({
  value: option.value,
  text: oneLine(option.label || option.text, 100),
  selected: option.selected,
  disabled: option.disabled || option.closest('optgroup')?.disabled === true,
});

/** The same value or text; then the same but for case and accents; then the only one that begins or contains it. */
function best<Option>(
  options: readonly Option[],
  value: string,
  texts: (option: Option) => string[],
): Option | null {
  const wanted = folded(value);
  const which = (fits: (text: string) => boolean): Option[] =>
    options.filter((option) => texts(option).some(fits));
  const [exact] = which((text) => text === value);
  const [same] = which((text) => text !== '' && folded(text) === wanted);
  if (exact ?? same) return exact ?? same ?? null;
  if (wanted === '') return null;
  const begins = which((text) => folded(text).startsWith(wanted));
  const holds = which((text) => folded(text).includes(wanted));
  return begins.length === 1 ? (begins[0] ?? null) : holds.length === 1 ? (holds[0] ?? null) : null;
}

const refused = (element: Element, why: string): PageFailure =>
  new PageFailure('OPTION_NOT_FOUND', `${subjectOf(element)} ${why}.`, numberOf(element));

function missing(element: Element, value: string, options: readonly string[]): PageFailure {
  const shown = options
    .filter((text) => text !== '')
    .slice(0, MAX_SHOWN)
    .map((text) => JSON.stringify(text));
  const more = options.length > MAX_SHOWN ? ` and ${options.length - MAX_SHOWN} more` : '';
  return refused(
    element,
    `has no option ${JSON.stringify(value.slice(0, 100))}. It has: ${shown.join(', ')}${more}`,
  );
}

// Options of lists that pages build themselves: by role, or what appears when the list is opened.

const TRIES = 20;
const MAX_OPTION_LENGTH = 120;

/** Opens the list if none are visible. */
async function openOptions(element: HTMLElement): Promise<HTMLElement[]> {
  const there = optionsOf(element);
  if (there.length > 0) return there;
  // A click on these does more than to open a list.
  if (isLink(element) || isSubmitter(element)) throw notAListError(element, 'is not a list to choose from');
  const before = new Set(shownTexts());
  const { target, at } = await reachElement(element);
  clickAt(target, { at });
  for (let tries = 0; tries < TRIES; tries++) {
    await frames(3);
    const own = optionsOf(element);
    const opened = own.length > 0 ? own : visibleOptions(document.body).filter((each) => !before.has(each));
    if (opened.length > 0) return opened;
    const appeared = tries < 2 ? [] : shownTexts().filter((each) => !before.has(each));
    if (appeared.length > 0) return appeared;
  }
  throw notAListError(element, 'shows no options when it is opened');
}

const notAListError = (element: Element, why: string): PageFailure =>
  new PageFailure('NOT_A_LIST', `${subjectOf(element)} ${why}.`, numberOf(element));

/** Inside of it, or in the popup that it names. */
function optionsOf(element: HTMLElement): HTMLElement[] {
  const root = element.getRootNode() as Document | ShadowRoot;
  const ids =
    `${element.getAttribute('aria-controls') ?? ''} ${element.getAttribute('aria-owns') ?? ''}`.split(/\s+/);
  const popups = ids.flatMap((id) => (id === '' ? [] : (root.getElementById(id) ?? [])));
  return [element, ...popups].flatMap(visibleOptions);
}

const OPTIONS = new Set(['option', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem']);

function visibleOptions(root: Element): HTMLElement[] {
  return [...elementsIn(root)].filter(
    (each) => each !== root && each.localName !== 'option' && OPTIONS.has(roleOf(each)) && isVisible(each),
  );
}

/** Short texts on the page: each can be an option without a role. */
const shownTexts = (): HTMLElement[] =>
  [...elementsIn(document.body)].filter((each) => {
    if (each.childElementCount > 2 || each.localName === 'option') return false;
    const text = each.textContent?.trim() ?? '';
    return text !== '' && text.length <= MAX_OPTION_LENGTH && isRendered(each);
  });
