/** Options of lists that pages build themselves: by role, or what appears when the list is opened. */

import { elementsIn } from '../dom/flat-tree.ts';
import { isLink, isSubmitter } from '../dom/kinds.ts';
import { roleOf } from '../dom/roles.ts';
import { isRendered, isVisible } from '../dom/visibility.ts';
import { clickAt } from '../events/pointer.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { frames, reachElement } from './reach.ts';

const TRIES = 20;
const MAX_OPTION_LENGTH = 120;

/** Opens the list if none are visible. */
export async function openOptions(element: HTMLElement): Promise<HTMLElement[]> {
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
