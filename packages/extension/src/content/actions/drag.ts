/** Drag and drop: with the events of HTML for draggable elements, with pointer events for others. */
import { ancestorsOf, closest } from '../dom/flat-tree.ts';
import { aimsOf, clickTarget, elementAt, type Point } from '../dom/visibility.ts';
import { moveTo, sendMouse } from '../events/pointer.ts';
import { elementById } from '../numbers.ts';
import { reported } from '../page-world.ts';
import { frames, reach, reachElement, rendered } from './reach.ts';

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
export async function dragFrom(element: Element, start: Place, end: Destination): Promise<void> {
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
export async function drawThrough(target: Element, points: readonly Point[]): Promise<void> {
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
