/** Which elements a user can operate, beyond links and form controls: widgets, clickable boxes, drag and drop. */
import { isDrawing } from '../dom/appearance.ts';
import { contains } from '../dom/flat-tree.ts';
import { isControl, isEditingHost, isInput, isLink, isTickedInput } from '../dom/kinds.ts';
import { isWidget, roleOf } from '../dom/roles.ts';
import { aimsOf, elementAt, isInViewport, isVeil } from '../dom/visibility.ts';
import { isOpener, isPressable, isPressableInside } from './clues.ts';
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
  return element.querySelector(CONTROLS) === null && (element.textContent ?? '').length < 100;
}

const CONTROLS = 'a, button, input, select, textarea, [role], [tabindex], [onclick]';

const scrolls = ({ overflowY, overflowX }: CSSStyleDeclaration): boolean =>
  overflowY === 'auto' || overflowY === 'scroll' || overflowX === 'auto' || overflowX === 'scroll';

export const isDraggable = (element: Element): boolean => element.getAttribute('draggable') === 'true';

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
