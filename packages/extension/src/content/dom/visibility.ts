/** What a user can see and reach. */
import { isIndicator } from '../indicator.ts';
import { ancestorsOf, contains, frameDocument, frameOf, shadowOf } from './flat-tree.ts';
import { isInput, isTickedInput } from './kinds.ts';
import { labelsOf } from './names.ts';

export type Point = { readonly x: number; readonly y: number };

/** Rendered, whatever its size, position and opacity. */
export const isRendered = (element: Element): boolean =>
  element.checkVisibility({ visibilityProperty: true });

const hasSize = (element: Element): boolean => {
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1;
};

/** Fields that pages often hide behind a styled label. */
const isOftenHidden = (element: Element): boolean =>
  isTickedInput(element) || (isInput(element) && element.type === 'file');

/**
 * The element that is clicked for it: itself, or the label of a hidden check box, radio button or file field. Null if it cannot
 * be seen.
 */
export function clickTarget(element: Element): HTMLElement | null {
  if (element.localName === 'area') return pictureOf(element) && (element as HTMLElement);
  const seen = isRendered(element);
  if (seen && hasSize(element) && !(isOftenHidden(element) && isTransparent(element)))
    return element as HTMLElement;
  if (isOftenHidden(element)) {
    const label = labelsOf(element).find((each) => isRendered(each) && hasSize(each));
    if (label) return label;
    const parent = element.parentElement;
    if (seen && parent && isRendered(parent) && hasSize(parent)) return element as HTMLElement;
  }
  // Inline elements without a box of their own: the content has one.
  if (seen && [...element.children].some((child) => isRendered(child) && hasSize(child)))
    return element as HTMLElement;
  return null;
}

const isTransparent = (element: Element): boolean => getComputedStyle(element).opacity === '0';

export const isVisible = (element: Element): boolean => clickTarget(element) !== null;

export function viewOf(document: Document): Window {
  return document.defaultView ?? window;
}

export function isInViewport({ x, y }: Point, document: Document): boolean {
  const { innerWidth, innerHeight } = viewOf(document);
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
}

/** The innermost element at a point of its document, through shadow roots and frames. */
export function elementAt({ x, y }: Point, document: Document): Element | null {
  let hit = document.elementFromPoint(x, y);
  // The indicator is not part of the page.
  if (isIndicator(hit)) hit = document.elementsFromPoint(x, y).find((each) => !isIndicator(each)) ?? null;
  for (;;) {
    if (!hit) return null;
    const shadow: ShadowRoot | null = shadowOf(hit);
    const inner: Element | null = shadow ? shadow.elementFromPoint(x, y) : null;
    if (inner && inner !== hit) {
      hit = inner;
      continue;
    }
    const frame: Document | null = frameDocument(hit);
    if (!frame) return hit;
    const { left, top } = hit.getBoundingClientRect();
    return elementAt({ x: x - left - hit.clientLeft, y: y - top - hit.clientTop }, frame) ?? hit;
  }
}

/** A point of a frame's document in the coordinates of the tab. */
export function inTab(point: Point, document: Document): Point {
  let { x, y } = point;
  for (let frame = frameOf(document); frame; frame = frameOf(frame.ownerDocument)) {
    const { left, top } = frame.getBoundingClientRect();
    x += left + frame.clientLeft;
    y += top + frame.clientTop;
  }
  return { x, y };
}

/** Points at which a user would aim, best first. */
export function aimsOf(element: Element): Point[] {
  const picture = pictureOf(element);
  if (picture) return [middleOf(element, picture)];
  const boxes = [...element.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
  const box = element.getBoundingClientRect();
  const [first = box] = boxes;
  const inner = (fx: number, fy: number, { left, top, width, height }: DOMRect): Point => ({
    x: left + width * fx,
    y: top + height * fy,
  });
  return [
    inner(0.5, 0.5, first),
    inner(0.5, 0.5, box),
    ...[
      [0.2, 0.5],
      [0.8, 0.5],
      [0.5, 0.2],
      [0.5, 0.8],
      [0.05, 0.05],
      [0.95, 0.95],
    ].map(([fx = 0.5, fy = 0.5]) => inner(fx, fy, first)),
  ];
}

/** Transparent, on top of something that it takes the pointer for. */
export const isVeil = (element: Element): boolean => isTransparent(element);

/** Whether a click at the point reaches the element. */
export function reaches(element: Element, hit: Element | null): boolean {
  if (!hit) return false;
  if (contains(element, hit)) return true;
  const label = hit.closest('label');
  if (label?.control === element) return true;
  return contains(hit, element) && passesThrough(element, hit);
}

/** Only elements without pointer events are between the element and the one that is hit. */
function passesThrough(element: Element, hit: Element): boolean {
  if (getComputedStyle(element).pointerEvents === 'none') return true;
  const { width, height } = element.getBoundingClientRect();
  if (width < 2 || height < 2) return true;
  for (const ancestor of ancestorsOf(element)) {
    if (ancestor === hit) return false;
    if (getComputedStyle(ancestor).display === 'contents') return true;
  }
  return false;
}

/** Where a click reaches the element now; null if it is outside of the viewport or covered everywhere. */
export function openAim(element: Element): Point | null {
  const document = element.ownerDocument;
  const tab = window.top === window ? window.document : document;
  for (const aim of aimsOf(element)) {
    if (!isInViewport(aim, document)) continue;
    const there = frameOf(document) ? inTab(aim, document) : aim;
    const hit = elementAt(there, frameOf(document) ? tab : document);
    if (reaches(element, hit)) return aim;
  }
  return null;
}

// Areas of image maps. They have no box of their own: they are parts of a picture.

/** The rendered picture of an area; null for other elements. */
export function pictureOf(area: Element): Element | null {
  if (area.localName !== 'area') return null;
  const name = area.closest('map')?.getAttribute('name');
  const picture = name ? area.ownerDocument.querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
  return picture?.checkVisibility() ? picture : null;
}

/** The middle of the area in its document. */
function middleOf(area: Element, picture: Element): { x: number; y: number } {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const numbers = (area.getAttribute('coords') ?? '').split(/[\s,]+/).map(Number);
  if (numbers.some(Number.isNaN) || numbers.length < 3) return { x: left + width / 2, y: top + height / 2 };
  const [x = 0, y = 0] = numbers;
  if (numbers.length === 3) return { x: left + x, y: top + y };
  const mean = (odd: 0 | 1): number => {
    const axis = numbers.filter((_, index) => index % 2 === odd);
    return axis.reduce((sum, each) => sum + each, 0) / axis.length;
  };
  return { x: left + mean(0), y: top + mean(1) };
}
