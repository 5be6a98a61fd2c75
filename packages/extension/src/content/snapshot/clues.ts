/** Elements that can be used although they have neither a role nor the cursor of a link. */
import { nameOf } from '../dom/names.ts';
import { isRendered } from '../dom/visibility.ts';
import type { Hints } from './hints.ts';

const CONTROLS =
  'a[href], button, input, select, textarea, [role="button"], [role="link"], [role="tab"], [role="menuitem"], [role="checkbox"], [role="option"], [tabindex]:not([tabindex="-1"]), [onclick]';
const MAX_BOX_LENGTH = 300;
const MAX_LEAF_LENGTH = 100;
const MAX_CONTROLS = 5;

const textLength = (element: Element): number => (element.textContent ?? '').trim().length;
const isLeaf = (element: Element): boolean =>
  textLength(element) <= MAX_LEAF_LENGTH && element.querySelector(CONTROLS) === null;
const isBox = (element: Element): boolean =>
  textLength(element) <= MAX_BOX_LENGTH && element.querySelectorAll(CONTROLS).length <= MAX_CONTROLS;

/** A press on it does something. */
export function isPressable(element: Element, hints: Hints): boolean {
  if (isPage(element) || element.matches(LAYERS)) return false;
  if (hints.pressable.has(element)) return isBox(element) && !delegates(element);
  if (isHandledAbove(element, hints) && isItem(element)) return true;
  if (element.matches(HANDLED)) return isBox(element);
  if (hints.reacts.has(element) && !TABLE.has(element.localName)) return isLeaf(element) && isNamed(element);
  return isNamedControl(element) || isEntry(element);
}

/** The same for a part of such an element. */
export const isPressableInside = (element: Element, hints: Hints): boolean =>
  (hints.pressable.has(element) && isBox(element) && (isNamed(element) || nameOf(element) !== '')) ||
  (hints.reacts.has(element) && isIcon(element)) ||
  ((element as SVGElement).ownerSVGElement != null && isHandledAbove(element, hints) && isItem(element)) ||
  isEntry(element);

const MAX_ICON = 48;

/** A small picture of its own, which changes under the pointer. */
function isIcon(element: Element): boolean {
  if (textLength(element) > 0 || element.querySelector(CONTROLS) !== null) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 4 && height > 4 && width <= MAX_ICON && height <= MAX_ICON && nameOf(element) !== '';
}

/** Something appears while the pointer is over it: a menu, the actions of a row or card. */
export const isOpener = (element: Element, hints: Hints): boolean =>
  (hints.opens.has(element) && !isPage(element) && textLength(element) <= MAX_BOX_LENGTH) ||
  holdsHiddenMenu(element);

/** They listen for what they contain, or for clicks beside it. */
const LAYERS =
  'table, thead, tbody, ul, ol, main, nav, header, footer, dialog, form, [role="dialog"], [role="alertdialog"], [class*="modal" i], [class*="dialog" i], [class*="backdrop" i], [class*="overlay" i]';

const isPage = ({ localName }: Element): boolean => localName === 'body' || localName === 'html';
const TABLE = new Set(['tr', 'td', 'th', 'table', 'tbody', 'thead']);
const isNamed = (element: Element): boolean =>
  textLength(element) > 0 || element.hasAttribute('title') || element.hasAttribute('data-tooltip');

/** Attributes of libraries that attach their listeners somewhere else. */
const HANDLED = [
  '[jsaction*="click"]',
  '[ng-click]',
  '[data-ng-click]',
  '[\\@click]',
  '[x-on\\:click]',
  '[wire\\:click]',
  '[phx-click]',
  '[hx-get]',
  '[hx-post]',
  '[data-action*="click"]',
  '[data-bs-toggle]',
  '[data-toggle]',
  '[data-href]',
  '[popovertarget]',
  '[commandfor]',
  'th[aria-sort]',
  'th[data-sort]',
  'th.sortable',
  'th.sorting',
].join();

/** A list that listens for its entries. */
const delegates = (element: Element): boolean =>
  [...element.children].filter((child) => child.localName === element.firstElementChild?.localName).length >
  1;

/** The listener is on the list, or on the table of a row. */
function isHandledAbove(element: Element, { pressable }: Hints): boolean {
  const parent = element.parentElement;
  if (!parent || isPage(parent)) return false;
  return (
    pressable.has(parent) || (element.localName === 'tr' && pressable.has(parent.closest('table') ?? parent))
  );
}

/** With controls of its own, the listener is for those. */
const isItem = (element: Element): boolean =>
  textLength(element) > 0 &&
  textLength(element) <= MAX_BOX_LENGTH &&
  element.querySelector(CONTROLS) === null &&
  (hasEqual(element) || isOnlyEntry(element)) &&
  element.localName !== 'td';

const isOnlyEntry = ({ localName, parentElement }: Element): boolean =>
  localName === 'li' && parentElement?.childElementCount === 1;

const hasEqual = ({ localName, previousElementSibling, nextElementSibling }: Element): boolean =>
  previousElementSibling?.localName === localName || nextElementSibling?.localName === localName;

const CUSTOM = /-.*(?:button|btn|chip|link|tab|item|option|toggle|switch)|(?:button|btn|chip|toggle)-/;

const isNamedControl = (element: Element): boolean =>
  element.localName.includes('-') &&
  CUSTOM.test(element.localName) &&
  element.shadowRoot === null &&
  isLeaf(element) &&
  isNamed(element);

const ENTRY_TAGS = new Set(['li', 'div', 'span', 'dt', 'p']);
const LIST =
  /(?:^|[-_\s])(?:tabs?|tab-?list|tab-?bar|pagination|pager|segmented|rating|stars|menu|dropdown|options|suggestions|autocomplete|listbox|swatches)(?:$|[-_\s])/i;

/** An entry of something that is called tabs, menu, options … */
function isEntry(element: Element): boolean {
  if (!ENTRY_TAGS.has(element.localName) || !(hasEqual(element) || isOnlyEntry(element))) return false;
  const list = element.parentElement;
  const name = `${list?.getAttribute('class') ?? ''} ${list?.id ?? ''}`;
  return name.length > 1 && LIST.test(name) && isLeaf(element) && isNamed(element);
}

const SUBMENU =
  ':scope > ul, :scope > [class*="submenu" i], :scope > [class*="dropdown" i], :scope > [class*="sub-menu" i]';

/** An entry of a menu whose own menu is closed. */
function holdsHiddenMenu(element: Element): boolean {
  if (element.localName !== 'li') return false;
  const menu = element.querySelector(SUBMENU);
  if (!menu || isRendered(menu)) return false;
  return [...element.childNodes].some((node) => node.nodeType === 3 && /\S/.test(node.nodeValue ?? ''));
}
