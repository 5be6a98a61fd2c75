/** Pointer and mouse events in the order in which browsers send them. */
import { activeElement, ancestorsOf } from '../dom/flat-tree.ts';
import { isControl, isEditingHost, isLink } from '../dom/kinds.ts';
import { inTab, type Point, viewOf } from '../dom/visibility.ts';
import { giveFocus, takeFocus } from './focus.ts';

export type Press = { readonly at: Point; readonly button?: 0 | 2; readonly detail?: number };

const isPointer = (type: string): boolean => /^(?:pointer|click|auxclick|contextmenu)/.test(type);

/** False if a listener cancelled it. */
export function sendMouse(target: Element, type: string, { at, button = 0, detail = 1 }: Press): boolean {
  const pressed = /down|drag/.test(type) ? (button === 2 ? 2 : 1) : 0;
  const tab = inTab(at, target.ownerDocument);
  const quiet = /enter$|leave$/.test(type);
  const init: PointerEventInit = {
    bubbles: !quiet,
    cancelable: !quiet,
    composed: true,
    view: viewOf(target.ownerDocument) as Window & typeof globalThis,
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

/** Moves the pointer over an element; leaves the one where it was. */
export function moveTo(target: Element, at: Point): void {
  if (hovered && hovered !== target && hovered.isConnected) {
    for (const type of ['pointerout', 'mouseout']) sendMouse(hovered, type, { at });
    for (const left of [hovered, ...ancestorsOf(hovered)]) {
      if (left === target || left.contains(target)) break;
      for (const type of ['pointerleave', 'mouseleave']) sendMouse(left, type, { at });
    }
  }
  if (hovered !== target) {
    for (const type of ['pointerover', 'mouseover']) sendMouse(target, type, { at });
    const entered = [target, ...ancestorsOf(target)].filter((each) => !hovered || !each.contains(hovered));
    for (const each of entered.reverse())
      for (const type of ['pointerenter', 'mouseenter']) sendMouse(each, type, { at });
  }
  hovered = target;
  for (const type of ['pointermove', 'mousemove']) sendMouse(target, type, { at });
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
