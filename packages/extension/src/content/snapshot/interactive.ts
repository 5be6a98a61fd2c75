/** Which elements a user can operate, beyond links and form controls: widgets, clickable boxes, drag and drop. */
import { isDrawing } from '../dom/appearance.ts';
import { contains } from '../dom/flat-tree.ts';
import { isControl, isEditingHost, isInput, isLink, isTickedInput, isWidget, roleOf } from '../dom/kinds.ts';
import { nameOf } from '../dom/names.ts';
import { aimsOf, elementAt, isInViewport, isRendered, isVeil } from '../dom/visibility.ts';
import type { Hints } from './hints.ts';

/**
 * `control`: has a role of its own; `clickable`: only behaves like a button; `opener`: shows more under the pointer; `drag` and
 * `drop`: for drag and drop
 */
export type Interaction = 'control' | 'clickable' | 'opener' | 'drag' | 'drop';

export type InteractionContext = {
  readonly hints: Hints;
  /** the cursor of the parent is a pointer */
  readonly pointer: boolean;
  /** inside of a link, a button or another control */
  readonly inControl: boolean;
  /** inside of something that only behaves like a button */
  readonly inClickable: boolean;
};

const DROP_ATTRIBUTES = [
  'ondrop',
  'ondragover',
  'aria-dropeffect',
  'data-rbd-droppable-id',
  'data-droppable',
];
const DROP_NAME = /(?:^|[-_\s])(?:drop(?:zone|-?target|pable|-?area)?)(?:$|[-_\s])/i;
const FOCUSED_ROLES = new Set([
  'row',
  'cell',
  'columnheader',
  'tabpanel',
  'dialog',
  'alertdialog',
  'region',
  'document',
  'main',
  'group',
  'list',
  'listitem',
  'grid',
  'table',
  'menu',
  'menubar',
  'tablist',
  'toolbar',
  'tree',
  'article',
  'img',
  'heading',
  'navigation',
  'log',
  'status',
  'alert',
  'feed',
]);

export function interactionOf(
  element: Element,
  style: CSSStyleDeclaration,
  { pointer, inControl, inClickable, hints }: InteractionContext,
): Interaction | null {
  if (style.pointerEvents === 'none' && !isTickedInput(element)) return null;
  if (isControl(element)) return isInput(element) && element.type === 'hidden' ? null : 'control';
  if (isLink(element) || element.localName === 'summary' || isEditingHost(element)) return 'control';
  const role = roleOf(element);
  if (isWidget(role)) return 'control';
  if (isDraggable(element) || isHandle(element)) return 'drag';
  if (isDropZone(element)) return 'drop';
  if (inControl) return null;
  if (isUsedDrawing(element, hints)) return 'clickable';
  if (inClickable) return isPressableInside(element, hints) ? 'clickable' : null;
  if (element.hasAttribute('onclick') || element.hasAttribute('onmousedown')) return 'clickable';
  if (style.cursor === 'pointer' && !pointer && element.localName !== 'label' && element.localName !== 'body')
    return 'clickable';
  if (isNamedButton(element) || isPressable(element, hints)) return 'clickable';
  if (isOpener(element, hints)) return 'opener';
  const tabindex = element.getAttribute('tabindex');
  if (tabindex !== null && role === 'gridcell') return 'clickable';
  if (tabindex !== null && Number(tabindex) >= 0 && !FOCUSED_ROLES.has(role) && !scrolls(style))
    return holdsFocused(element) ? null : 'clickable';
  return null;
}

/** A list whose entries take the focus: the entries are used, not the list. */
const holdsFocused = (element: Element): boolean =>
  element.querySelector('[tabindex]:not(a, button, input, select, textarea)') !== null;

/** Smaller ones are icons. */
const MIN_SIDE = 10;
const MIN_AREA = 900;

/** A canvas, or an SVG that listens itself. */
export function isUsedDrawing(element: Element, { pressable }: Hints): boolean {
  if (!isDrawing(element)) return false;
  const { width, height } = element.getBoundingClientRect();
  if (Math.min(width, height) < MIN_SIDE || width * height < MIN_AREA) return false;
  if (element.localName === 'canvas') return !isBehind(element);
  return pressable.has(element) || element.hasAttribute('onclick');
}

/** In view, but everything of it is covered. */
function isBehind(element: Element): boolean {
  const { ownerDocument } = element;
  const hits = aimsOf(element).map((aim) =>
    isInViewport(aim, ownerDocument) ? elementAt(aim, ownerDocument) : element,
  );
  return hits.every((hit) => hit !== null && !contains(element, hit) && !isVeil(hit));
}

const BUTTON_CLASS =
  /(?:^|[-_\s])(?:btn|button|clickable|close|toggle|dropdown-?item|menu-?item|nav-?link|selectable)(?:$|[-_\s])/i;
const BUTTON_TAGS = new Set(['div', 'span', 'li', 'i', 'img', 'svg', 'p', 'a', 'td']);

/** Pages without a role or a cursor still name their buttons so. */
function isNamedButton(element: Element): boolean {
  const { localName } = element;
  const name = element.getAttribute('class');
  if (name === null || !BUTTON_TAGS.has(localName) || !BUTTON_CLASS.test(name)) return false;
  return element.querySelector(CONTROL_TAGS) === null && (element.textContent ?? '').length < 100;
}

const CONTROL_TAGS = 'a, button, input, select, textarea, [role], [tabindex], [onclick]';

const scrolls = ({ overflowY, overflowX }: CSSStyleDeclaration): boolean =>
  overflowY === 'auto' || overflowY === 'scroll' || overflowX === 'auto' || overflowX === 'scroll';

const isDraggable = (element: Element): boolean => element.getAttribute('draggable') === 'true';

const HANDLE = /(?:^|[-_\s])(?:drag|move|sort)?-?(?:handle|grip|dragger)(?:$|[-_\s])/i;

/** A small part that moves its row. */
const isHandle = (element: Element): boolean =>
  HANDLE.test(element.getAttribute('class') ?? '') && (element.textContent ?? '').trim().length <= 3;

/** Marked as one, or a container of draggable elements, or one of the same kind beside it. */
function isDropZone(element: Element): boolean {
  if (DROP_ATTRIBUTES.some((name) => element.hasAttribute(name))) return true;
  const marks = `${element.id} ${element.getAttribute('class') ?? ''}`;
  if (marks.length > 1 && DROP_NAME.test(marks)) return true;
  if (!hasDraggables(element.ownerDocument)) return false;
  if (holdsDraggable(element)) return true;
  const { className, parentElement: parent } = element;
  if (className === '' || !parent || parent.childElementCount > 30) return false;
  return [...parent.children].some(
    (sibling) => sibling !== element && sibling.className === className && holdsDraggable(sibling),
  );
}

function holdsDraggable(element: Element): boolean {
  const first = element.firstElementChild;
  return (
    (first !== null && isDraggable(first)) ||
    (element.lastElementChild !== null && isDraggable(element.lastElementChild))
  );
}

let known: { readonly document: Document; readonly at: number; readonly found: boolean } | null = null;

/** Looked up once per snapshot. */
function hasDraggables(document: Document): boolean {
  const at = performance.now();
  if (known?.document !== document || at - known.at > 50)
    known = { document, at, found: document.querySelector('[draggable="true"]') !== null };
  return known.found;
}

// Elements that can be used although they have neither a role nor the cursor of a link.

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
function isPressable(element: Element, hints: Hints): boolean {
  if (isPage(element) || element.matches(LAYERS)) return false;
  if (hints.pressable.has(element)) return isBox(element) && !delegates(element);
  if (isHandledAbove(element, hints) && isItem(element)) return true;
  if (element.matches(HANDLED)) return isBox(element);
  if (hints.reacts.has(element) && !TABLE.has(element.localName)) return isLeaf(element) && isNamed(element);
  return isNamedControl(element) || isEntry(element);
}

/** The same for a part of such an element. */
const isPressableInside = (element: Element, hints: Hints): boolean =>
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
const isOpener = (element: Element, hints: Hints): boolean =>
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
