/** Pointer and mouse events in the order in which browsers send them. */
import { activeElement, ancestorsOf } from '../dom/flat-tree.ts';
import { isControl, isEditingHost, isLink } from '../dom/kinds.ts';
import { inTab, type Point, viewOf } from '../dom/visibility.ts';
import { giveFocus, takeFocus } from './focus.ts';

export type Press = {
  readonly at: Point;
  readonly button?: 0 | 2;
  readonly detail?: number;
  /** a button is held down while it moves */
  readonly held?: boolean;
  /** where the pointer comes from or goes to */
  readonly related?: Element | null;
};

const isPointer = (type: string): boolean => /^(?:pointer|click|auxclick|contextmenu)/.test(type);

/** False if a listener cancelled it. */
export function sendMouse(
  target: Element,
  type: string,
  { at, button = 0, detail = 1, held = false, related = null }: Press,
): boolean {
  const pressed = held || /down|drag/.test(type) ? (button === 2 ? 2 : 1) : 0;
  const tab = inTab(at, target.ownerDocument);
  const quiet = /enter$|leave$/.test(type);
  const init: PointerEventInit = {
    bubbles: !quiet,
    cancelable: !quiet,
    composed: true,
    view: viewOf(target.ownerDocument) as Window & typeof globalThis,
    relatedTarget: related,
    clientX: at.x,
    clientY: at.y,
    screenX: window.screenX + tab.x,
    screenY: window.screenY + tab.y,
    button: /move|over|enter|out|leave/.test(type) ? (type.startsWith('pointer') ? -1 : 0) : button,
    buttons: pressed,
    detail: type.startsWith('pointer') ? 0 : detail,
    pointerId: 1,
    pointerType: 'mouse',
    isPrimary: true,
    pressure: pressed ? 0.5 : 0,
  };
  return target.dispatchEvent(isPointer(type) ? new PointerEvent(type, init) : new MouseEvent(type, init));
}

let hovered: Element | null = null;

/** Moves the pointer over an element, and away from the one where it was. */
export function moveTo(target: Element, at: Point): void {
  const from = hovered?.isConnected ? hovered : null;
  hovered = target;
  if (from !== target) {
    if (from) leave(from, target, at);
    enter(target, from, at);
  }
  for (const type of ['pointermove', 'mousemove']) sendMouse(target, type, { at });
}

function leave(from: Element, to: Element, at: Point): void {
  for (const type of ['pointerout', 'mouseout']) sendMouse(from, type, { at, related: to });
  for (const left of [from, ...ancestorsOf(from)]) {
    if (left.contains(to)) break;
    for (const type of ['pointerleave', 'mouseleave']) sendMouse(left, type, { at, related: to });
  }
}

function enter(to: Element, from: Element | null, at: Point): void {
  for (const type of ['pointerover', 'mouseover']) sendMouse(to, type, { at, related: from });
  const entered = [to, ...ancestorsOf(to)].filter((each) => !from || !each.contains(from));
  for (const each of entered.reverse())
    for (const type of ['pointerenter', 'mouseenter']) sendMouse(each, type, { at, related: from });
}

/** Presses and releases a button of the mouse; `target` is what is under the pointer. */
export function clickAt(target: Element, { at, button = 0, detail = 1 }: Press): void {
  moveTo(target, at);
  const press = { at, button, detail };
  const down = sendMouse(target, 'pointerdown', press);
  const pressed = down ? sendMouse(target, 'mousedown', press) : true;
  if (pressed) focusAround(target);
  if (button === 2) sendMouse(target, 'contextmenu', press);
  sendMouse(target, 'pointerup', press);
  if (down) sendMouse(target, 'mouseup', press);
  if (!target.isConnected && target.ownerDocument !== document) return;
  sendMouse(target, button === 2 ? 'auxclick' : 'click', press);
}

/** The nearest element that takes the focus, as a press of the mouse gives it; otherwise the focused one loses it. */
function focusAround(target: Element): void {
  for (const each of [target, ...ancestorsOf(target)]) {
    if (each.localName === 'label') return;
    if (!takesFocus(each)) continue;
    giveFocus(each as HTMLElement);
    return;
  }
  const active = activeElement(document);
  if (active && active !== active.ownerDocument.body) takeFocus(active);
}

const takesFocus = (element: Element): boolean =>
  (isControl(element) && !element.disabled) ||
  isLink(element) ||
  isEditingHost(element) ||
  element.localName === 'summary' ||
  element.hasAttribute('tabindex');
