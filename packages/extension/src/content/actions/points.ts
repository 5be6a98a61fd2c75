/** Actions at a point of an element, for drawings, canvases and maps: clicks, hovering and dragging. */
import { closest, contains } from '../dom/flat-tree.ts';
import { isInput, isSelect } from '../dom/kinds.ts';
import { clickTarget, elementAt, isInViewport, isVeil, type Point } from '../dom/visibility.ts';
import { clickAt, moveTo } from '../events/pointer.ts';
import { elementById, numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { refuseSpecial } from './click.ts';
import { dragFrom, drawThrough } from './drag.ts';
import { moveHoverStyles, showHoverStyles } from './hover-styles.ts';
import { covered, frames, rendered, usable } from './reach.ts';

/** From the left and the top of the element, in pixels. */
export type Offset = { readonly id: number; readonly x: number; readonly y: number };

export async function clickPoint({ id, x, y }: Offset): Promise<void> {
  const { target, at } = await pointIn(usable(id), { x, y });
  refuseSpecial(controlAround(target), id);
  clickAt(target, { at });
  moveHoverStyles(target);
}

export async function hoverPoint({ id, x, y }: Offset): Promise<void> {
  const { target, at } = await pointIn(rendered(id), { x, y });
  moveTo(target, at);
  showHoverStyles(target);
  expectReaction();
}

export type DragOffsets = {
  readonly from: number;
  readonly fromX: number;
  readonly fromY: number;
  readonly to: number;
  readonly toX: number;
  readonly toY: number;
};

/** The end may be outside of its element, but not outside of the view. */
export async function dragPoints({ from, fromX, fromY, to, toX, toY }: DragOffsets): Promise<void> {
  const [element, other] = [usable(from), rendered(to)];
  // Both ends have to be in view at once.
  if (!isInViewport(place(other, { x: toX, y: toY }), other.ownerDocument))
    other.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  const start = await pointIn(element, { x: fromX, y: fromY });
  const end = place(other, { x: toX, y: toY });
  if (!isInViewport(end, other.ownerDocument))
    throw new PageFailure(
      'ELEMENT_HIDDEN',
      `The end of the drag, ${toX},${toY} in ${subjectOf(other)}, is outside of the visible page.`,
      to,
    );
  await dragFrom(start.target, start, () => ({
    at: end,
    target: elementAt(end, other.ownerDocument) ?? other,
  }));
}

/** `10,20 30,40`: a line through these points of an element, for drawing areas. */
export async function draw({ id, points }: { readonly id: number; readonly points: string }): Promise<void> {
  const element = usable(id);
  const path = points
    .trim()
    .split(/[\s;]+/)
    .map((pair) => pair.split(',').map(Number));
  if (
    path.length < 2 ||
    path.length > MAX_POINTS ||
    path.some((pair) => pair.length !== 2 || pair.some(Number.isNaN))
  )
    throw new PageFailure(
      'INVALID_VALUE',
      `draw takes 2 to ${MAX_POINTS} points such as "10,20 30,40", not ${JSON.stringify(points.slice(0, 60))}.`,
      id,
    );
  const [first, ...others] = path.map(([x = 0, y = 0]) => ({ x, y }));
  const { target, at } = await pointIn(element, first ?? { x: 0, y: 0 });
  const ends = others.map((offset) => place(element, offset));
  if (!ends.every((end) => isInViewport(end, element.ownerDocument)))
    throw new PageFailure('ELEMENT_HIDDEN', 'A point of the line is outside of the visible page.', id);
  await drawThrough(target, [at, ...ends]);
}

const MAX_POINTS = 200;

/** The control that a click at this point presses; the element itself if the point cannot be reached. */
export async function pressedAt({ id, x, y }: Offset): Promise<Element> {
  const element = elementById(id);
  try {
    return controlAround((await pointIn(element, { x, y })).target);
  } catch {
    return element;
  }
}

const controlAround = (target: Element): Element =>
  isInput(target) || isSelect(target)
    ? target
    : (closest(target, 'a[href], button, label, summary, [role="button"], [role="link"]') ?? target);

const boxOf = (element: Element): DOMRect => (clickTarget(element) ?? element).getBoundingClientRect();

/** Mouse events have whole pixels. */
function place(element: Element, { x, y }: Point): Point {
  const { left, top } = boxOf(element);
  return { x: Math.round(left + x), y: Math.round(top + y) };
}

/** Scrolls the point into view, and says what is under it. */
async function pointIn(
  element: HTMLElement,
  offset: Point,
): Promise<{ readonly target: Element; readonly at: Point }> {
  const { width, height } = boxOf(element);
  if (offset.x < 0 || offset.y < 0 || offset.x > width || offset.y > height)
    throw new PageFailure(
      'INVALID_VALUE',
      `${subjectOf(element)} has ${Math.round(width)}×${Math.round(height)} pixels: ${offset.x},${offset.y} is outside of it.`,
      numberOf(element),
    );
  // The right and the bottom edge belong to what is beside it.
  const inside = { x: Math.min(offset.x, width - 1), y: Math.min(offset.y, height - 1) };
  const { ownerDocument } = element;
  const reaches = (): Element | null => {
    const hit = elementAt(place(element, inside), ownerDocument);
    return hit && (contains(element, hit) || contains(hit, element) || isVeil(hit)) ? hit : null;
  };
  if (!reaches()) {
    (clickTarget(element) ?? element).scrollIntoView({
      block: 'center',
      inline: 'nearest',
      behavior: 'instant',
    });
    await frames(3);
    const { x, y } = place(element, inside);
    const { innerWidth, innerHeight } = ownerDocument.defaultView ?? window;
    if (!isInViewport({ x, y }, ownerDocument))
      ownerDocument.defaultView?.scrollBy({
        left: x - innerWidth / 2,
        top: y - innerHeight / 2,
        behavior: 'instant',
      });
  }
  const at = place(element, inside);
  const target = reaches();
  if (!target) throw covered(element, at);
  return { target, at };
}
