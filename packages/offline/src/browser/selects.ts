/** Lists of options. An option of a native select cannot be clicked: naming it is a selection. */
import {
  type Action,
  folded,
  hasMoreOptions,
  isSelect,
  isTicked,
  optionWithin,
  type Page,
  type PageElement,
  wordsOf,
} from '@parlance/copilot';
import { actOn, describeElement, elementById, findTarget, matchOf, type Next } from './step.ts';

const LISTS = ['combobox', 'listbox'];
const CHOICES = ['option', 'radio', 'menuitemradio', 'menuitem', 'checkbox'];

export type Selection = { readonly list: PageElement; readonly option: string | null };

/** The select that a description means, alone or by one of its options; null if it means another element. */
export function selectionOf(page: Page, target: string): Selection | null {
  const clicked = findTarget(page, target);
  if ('missing' in clicked) {
    const [list, ...others] = page.elements.filter((element) => optionNamed(element, target) !== null);
    return list && others.length === 0 ? { list, option: optionNamed(list, target) } : null;
  }
  const list = elementById(page, clicked.element.list);
  if (list) return { list, option: clicked.element.name };
  return isSelect(clicked.element)
    ? { list: clicked.element, option: optionNamed(clicked.element, target) }
    : null;
}

export function select({ list, option }: Selection): Next {
  if (option === null) return { missing: `which option of ${describeElement(list)} to choose` };
  return actOn({ element: list }, (element) => optionIn(element, option));
}

/** `target` is null if no list is named. */
export function choose(page: Page, target: string | null, option: string): Next {
  const holding = page.elements.filter(
    (element) => LISTS.includes(element.role) && optionOf(element, option) !== null,
  );
  const named = target === null ? matchOf(holding[0], `“${option}”`) : findTarget(page, target, LISTS);
  // No list has that name, but only one has the option.
  const list = 'missing' in named && holding.length === 1 ? matchOf(holding[0], named.missing) : named;
  if ('element' in list && (isSelect(list.element) || holding.includes(list.element)))
    return select({ list: list.element, option });
  const choice = findTarget(page, option, CHOICES);
  if ('missing' in choice)
    return 'missing' in list ? list : { missing: `“${option}” in ${describeElement(list.element)}` };
  return actOn(choice, ({ id, role }) => ({ name: isTicked(role) ? 'check' : 'click', id }));
}

/** Enters a text as the kind of field takes it. */
export function enter(element: PageElement, text: string): Action | { missing: string } {
  const { id } = element;
  if (isSelect(element)) return optionIn(element, text);
  if (!isTicked(element.role)) return { name: 'setValue', id, text };
  if (/^(?:on|yes|true|checked)$/i.test(text)) return { name: 'check', id };
  return /^(?:off|no|false|unchecked)$/i.test(text)
    ? { name: 'uncheck', id }
    : { missing: `a field for “${text}”` };
}

function optionIn(element: PageElement, wanted: string): Action | { missing: string } {
  const isOpen = hasMoreOptions(element) && element.optionText === undefined;
  const value = optionOf(element, wanted) ?? (isOpen ? wanted : null);
  if (value !== null) return { name: 'selectDropdown', id: element.id, value };
  const texts = element.options?.map(({ text }) => text) ?? [element.optionText ?? ''];
  const known = texts.slice(0, 8).map((text) => `“${text}”`);
  return { missing: `“${wanted}” in ${describeElement(element)}, which has ${known.join(', ')}` };
}

/** The matching option, as the page names it; null if it is not among the known ones. */
function optionOf(element: PageElement, wanted: string): string | null {
  const { options = [], optionText, value, name } = element;
  const text = folded(wanted);
  const option =
    options.find((each) => folded(each.text) === text || folded(each.value) === text) ??
    options.find((each) => folded(each.text).startsWith(text));
  if (option) return option.value;
  // A list whose options run together: the words are in its text.
  if (options.length > 0) return null;
  return optionWithin(optionText ?? `${value ?? ''}\n${name}`, wanted);
}

/** The option that a description names, alone or with the name of the select. */
function optionNamed({ options = [], optionText, name }: PageElement, target: string): string | null {
  const exact = folded(target).replace(/^(?:the |a |an )?(?:option )?| option$/g, '');
  if (optionText !== undefined) return optionWithin(optionText, exact);
  const same = options.find(({ text }) => folded(text) === exact);
  if (same) return same.text;
  const [said, own] = [wordsOf(target), wordsOf(name)];
  const named = options.filter(({ text }) => {
    const words = wordsOf(text);
    return words.some((word) => !own.includes(word)) && words.every((word) => said.includes(word));
  });
  return named.length === 1 ? (named[0]?.text ?? null) : null;
}
