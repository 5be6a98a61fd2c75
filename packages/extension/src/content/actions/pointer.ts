/** Clicks, hovering, and presses and drags at points. */

import { ancestorsOf, closest, contains } from '../dom/flat-tree.ts';
import { isInput, isSelect, isTextArea, isTextInput } from '../dom/kinds.ts';
import { aimsOf, clickTarget, elementAt, isInViewport, isVeil, type Point } from '../dom/visibility.ts';
import { clickAt, moveTo, sendMouse } from '../events.ts';
import { elementById, numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { reported } from '../page-world.ts';
import { expectReaction, HOVER_MARK as MARK } from '../settle.ts';
import { rulesOf } from '../snapshot/hints.ts';
import { type Aim, covered, frames, newCover, reach, reachElement, rendered, usable } from './reach.ts';

/** A popup that a field opens over itself is named. */
export async function click(id: number): Promise<{ coveredBy: string } | undefined> {
  const { element, target, at } = await clickable(id);
  clickAt(target, { at });
  moveHoverStyles(target);
  if (!isTextInput(element) && !isTextArea(element)) return undefined;
  await frames(2);
  const cover = newCover(element);
  return cover === null ? undefined : { coveredBy: cover };
}

export async function doubleClick(id: number): Promise<void> {
  const { target, at } = await clickable(id);
  clickAt(target, { at });
  await frames(1);
  clickAt(target, { at, detail: 2 });
  sendMouse(target, 'dblclick', { at, detail: 2 });
}

export async function rightClick(id: number): Promise<void> {
  const { target, at } = await reach(id);
  clickAt(target, { at, button: 2 });
}

export async function hover(id: number): Promise<void> {
  rendered(id);
  const { target, at } = await reach(id);
  moveTo(target, at);
  showHoverStyles(target);
  expectReaction();
}

async function clickable(id: number): Promise<Aim> {
  const aim = await reach(id);
  refuseSpecial(aim.element, id);
  return aim;
}

/** What a click of a script does not operate. */
function refuseSpecial(element: Element, id: number): void {
  if (isSelect(element))
    throw new PageFailure('UNSUPPORTED', `${subjectOf(element)} is a list: use selectDropdown.`, id);
  if (isInput(element) && element.type === 'file')
    throw new PageFailure(
      'USER_NEEDED',
      `${subjectOf(element)} takes a file, which only the user can choose.`,
      id,
    );
}

// Menus that open by style alone (`li:hover > ul`). Events cannot set `:hover`, so its rules are repeated for an attribute that
// marks what is under the pointer.

const MAX_RULES = 5_000;

function showHoverStyles(target: Element): void {
  const root = target.ownerDocument;
  clearHoverStyles(root);
  const rules = hoverRules(root);
  if (rules.length === 0) return;
  for (const each of [target, ...ancestorsOf(target)]) each.setAttribute(MARK, '');
  const style = root.createElement('style');
  style.setAttribute(MARK, '');
  style.textContent = rules.join('\n');
  root.head.append(style);
}

/** The pointer is elsewhere now: a menu that it left closes. */
function moveHoverStyles(target: Element): void {
  if (target.ownerDocument.querySelector(`style[${MARK}]`)) showHoverStyles(target);
}

function clearHoverStyles(root: Document): void {
  for (const style of root.querySelectorAll(`style[${MARK}]`)) style.remove();
  for (const marked of root.querySelectorAll(`[${MARK}]`)) marked.removeAttribute(MARK);
}

/** Only rules that show something hidden: colours do not matter. */
const SHOWS =
  /(?:^|[;{\s])(?:display|visibility|opacity|height|max-height|transform|clip|clip-path|pointer-events|left|right|top)\s*:/;

function hoverRules(root: Document): string[] {
  const found: string[] = [];
  let read = 0;
  const visit = (rules: CSSRuleList): void => {
    for (const rule of rules) {
      if (read++ > MAX_RULES) return;
      const { selectorText, style, cssRules, media } = rule as CSSStyleRule & { media?: MediaList };
      if (selectorText?.includes(':hover') && SHOWS.test(style.cssText))
        found.push(`${selectorText.replaceAll(':hover', `[${MARK}]`)} { ${style.cssText} }`);
      if (cssRules && !(media && !matchMedia(media.mediaText).matches)) visit(cssRules);
    }
  };
  for (const sheet of root.styleSheets) {
    const rules = rulesOf(sheet);
    if (rules) visit(rules);
  }
  return found;
}

// Actions at a point of an element, for drawings, canvases and maps: clicks, hovering and dragging.

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

// Drag and drop: with the events of HTML for draggable elements, with pointer events for others.

const STEPS = 8;

export async function dragAndDrop(from: number, to: number): Promise<void> {
  rendered(to);
  const { element, target, at } = await reach(from);
  await dragFrom(element, { target, at }, (source) => destination(to, source));
}

type Place = { readonly target: Element; readonly at: Point };
/** Found after the drag has begun: things may have moved. */
type Destination = (source: Element) => Promise<Place> | Place;

/** Drags what is under the pointer: a draggable element, or whatever listens to the pointer. */
async function dragFrom(element: Element, start: Place, end: Destination): Promise<void> {
  const source = closest(element, '[draggable="true"]');
  if (source) await dragElement(source, start, end);
  else await dragPointer(start, end);
}

async function dragElement(source: Element, { target, at }: Place, destined: Destination): Promise<void> {
  const data = new DataTransfer();
  const send = (on: Element, type: string, point: Point): boolean => {
    const init = {
      bubbles: true,
      cancelable: type !== 'dragend' && type !== 'dragleave',
      composed: true,
      clientX: point.x,
      clientY: point.y,
      dataTransfer: data,
    };
    return on.dispatchEvent(new DragEvent(type, init));
  };
  moveTo(target, at);
  sendMouse(target, 'pointerdown', { at });
  sendMouse(target, 'mousedown', { at });
  if (!send(source, 'dragstart', at)) return;
  sendMouse(target, 'pointercancel', { at });
  await frames(2);
  const { at: end, target: over } = await destined(source);
  let entered: Element | null = null;
  for (const point of between(at, end)) {
    send(source, 'drag', point);
    const under = point === end ? over : (elementAt(point, source.ownerDocument) ?? over);
    if (under !== entered) {
      send(under, 'dragenter', point);
      if (entered) send(entered, 'dragleave', point);
      entered = under;
    }
    send(under, 'dragover', point);
    await frames(1);
  }
  // A browser drops only where a listener cancelled `dragover`.
  if (!send(over, 'dragover', end)) send(over, 'drop', end);
  else send(over, 'dragleave', end);
  send(source, 'dragend', end);
}

async function dragPointer({ target, at }: Place, destined: Destination): Promise<void> {
  moveTo(target, at);
  sendMouse(target, 'pointerdown', { at });
  sendMouse(target, 'mousedown', { at });
  await frames(1);
  const { at: end } = await destined(target);
  await moveAndRelease(target, at, end);
}

/** Presses at the first point, moves through the others, and lets go at the last. */
async function drawThrough(target: Element, points: readonly Point[]): Promise<void> {
  const [at = { x: 0, y: 0 }, ...others] = points;
  moveTo(target, at);
  sendMouse(target, 'pointerdown', { at });
  sendMouse(target, 'mousedown', { at });
  await frames(1);
  await moveAlong(target, others);
}

/** Moves the pointer from where it is pressed, and lets go. */
export const moveAndRelease = (target: Element, at: Point, end: Point): Promise<void> =>
  moveAlong(target, between(at, end));

async function moveAlong(target: Element, points: readonly Point[]): Promise<void> {
  for (const point of points) {
    const under = receiver(target, point);
    for (const type of ['pointermove', 'mousemove'])
      sendMouse(under, type, { at: point, detail: 0, held: true });
    await frames(1);
  }
  const end = points.at(-1) ?? { x: 0, y: 0 };
  const under = receiver(target, end);
  sendMouse(under, 'pointerup', { at: end });
  sendMouse(under, 'mouseup', { at: end });
}

/** What is under the pointer, or the element that has captured it. */
const receiver = (target: Element, point: Point): Element =>
  reported.captured ? target : (elementAt(point, target.ownerDocument) ?? target);

/** The place may have moved when the drag began, and something dragged may lie over it. */
async function destination(to: number, source: Element): Promise<{ at: Point; target: Element }> {
  const element = elementById(to);
  const visible = clickTarget(element) ?? element;
  const [middle = { x: 0, y: 0 }] = aimsOf(visible);
  const aim = isBeside(source, visible) ? beyond(source, visible) : middle;
  const { innerWidth, innerHeight } = window;
  if (aim.x < 0 || aim.y < 0 || aim.x >= innerWidth || aim.y >= innerHeight) {
    const { at, target } = await reachElement(element);
    return { at, target };
  }
  const hit = elementAt(aim, element.ownerDocument);
  return { at: aim, target: hit && visible.contains(hit) ? hit : visible };
}

/** Entries of one list: a drop sorts them. A handle stands for its entry. */
function isBeside(source: Element, target: Element): boolean {
  if (source.contains(target) || target.contains(source)) return false;
  for (const entry of [source, ...ancestorsOf(source)].slice(0, 4))
    for (const other of [target, ...ancestorsOf(target)].slice(0, 4))
      if (
        entry !== other &&
        entry.parentElement === other.parentElement &&
        entry.localName === other.localName
      )
        return true;
  return false;
}

/** The middle, and one pixel further from the source: lists sort by the half that the pointer is over. */
function beyond(source: Element, target: Element): Point {
  const [from, box] = [source.getBoundingClientRect(), target.getBoundingClientRect()];
  const [dx, dy] = [box.left - from.left, box.top - from.top];
  const isSideways = Math.abs(dx) > Math.abs(dy);
  return {
    x: box.left + box.width / 2 + (isSideways ? Math.sign(dx) : 0),
    y: box.top + box.height / 2 + (isSideways ? 0 : Math.sign(dy)),
  };
}

function between(from: Point, to: Point): Point[] {
  const steps = Array.from({ length: STEPS }, (_, index) => (index + 1) / (STEPS + 1));
  return [
    ...steps.map((part) => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part })),
    to,
  ];
}
