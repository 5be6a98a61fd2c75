/** Events as a user causes them: pointer, focus, keyboard and editing, in the order in which browsers send them. */
import { activeElement, ancestorsOf } from './dom/flat-tree.ts';
import { isControl, isEditingHost, isInput, isLink, isTextArea } from './dom/kinds.ts';
import { inTab, type Point, viewOf } from './dom/visibility.ts';

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

// Moves the focus. While the side panel has the focus of the browser, pages get no focus events: then they are sent.

export function giveFocus(element: HTMLElement): void {
  const before = activeElement(document);
  const events = countedEvents(element, 'focusin', () => element.focus({ preventScroll: true }));
  if (events > 0 || before === element || activeElement(document) !== element) return;
  if (before && before !== document.body) sendFocus(before, ['blur', 'focusout'], element);
  sendFocus(element, ['focus', 'focusin'], before);
}

export function takeFocus(element: HTMLElement): void {
  const events = countedEvents(element, 'focusout', () => element.blur());
  if (events === 0) sendFocus(element, ['blur', 'focusout'], null);
}

/** How many of these events the browser itself sends. */
function countedEvents(element: HTMLElement, type: string, change: () => void): number {
  let count = 0;
  const listener = (): void => {
    count++;
  };
  const root = element.ownerDocument;
  root.addEventListener(type, listener, true);
  change();
  root.removeEventListener(type, listener, true);
  return count;
}

function sendFocus(
  target: HTMLElement,
  types: readonly [string, string],
  relatedTarget: Element | null,
): void {
  for (const [index, type] of types.entries())
    target.dispatchEvent(new FocusEvent(type, { bubbles: index === 1, composed: true, relatedTarget }));
}

// Keyboard events, and what a browser does on a key that no listener cancelled.

export type Key = {
  readonly key: string;
  readonly code: string;
  readonly keyCode: number;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
};

const NAMED: Readonly<Record<string, readonly [key: string, code: string, keyCode: number]>> = {
  enter: ['Enter', 'Enter', 13],
  return: ['Enter', 'Enter', 13],
  tab: ['Tab', 'Tab', 9],
  escape: ['Escape', 'Escape', 27],
  esc: ['Escape', 'Escape', 27],
  backspace: ['Backspace', 'Backspace', 8],
  delete: ['Delete', 'Delete', 46],
  del: ['Delete', 'Delete', 46],
  space: [' ', 'Space', 32],
  spacebar: [' ', 'Space', 32],
  arrowup: ['ArrowUp', 'ArrowUp', 38],
  up: ['ArrowUp', 'ArrowUp', 38],
  arrowdown: ['ArrowDown', 'ArrowDown', 40],
  down: ['ArrowDown', 'ArrowDown', 40],
  arrowleft: ['ArrowLeft', 'ArrowLeft', 37],
  left: ['ArrowLeft', 'ArrowLeft', 37],
  arrowright: ['ArrowRight', 'ArrowRight', 39],
  right: ['ArrowRight', 'ArrowRight', 39],
  home: ['Home', 'Home', 36],
  end: ['End', 'End', 35],
  pageup: ['PageUp', 'PageUp', 33],
  pagedown: ['PageDown', 'PageDown', 34],
  insert: ['Insert', 'Insert', 45],
};
const MODIFIERS: Readonly<Record<string, 'ctrlKey' | 'shiftKey' | 'altKey' | 'metaKey'>> = {
  control: 'ctrlKey',
  ctrl: 'ctrlKey',
  shift: 'shiftKey',
  alt: 'altKey',
  option: 'altKey',
  meta: 'metaKey',
  cmd: 'metaKey',
  command: 'metaKey',
};
const NO_MODIFIERS = { ctrlKey: false, shiftKey: false, altKey: false, metaKey: false };

/** `Enter`, `Control+A`, `a`; null for names that are no key. */
export function keyNamed(name: string): Key | null {
  const parts =
    name === '+' || name.endsWith('++') ? [...name.slice(0, -1).split('+'), '+'] : name.split('+');
  const last = parts.pop() ?? '';
  const modifiers = { ...NO_MODIFIERS };
  for (const part of parts.filter((each) => each !== '')) {
    const modifier = MODIFIERS[part.trim().toLowerCase()];
    if (!modifier) return null;
    modifiers[modifier] = true;
  }
  const known = last === ' ' ? NAMED.space : NAMED[last.trim().toLowerCase()];
  if (known) return { key: known[0], code: known[1], keyCode: known[2], ...modifiers };
  const functionKey = /^f([1-9]|1[0-2])$/i.exec(last);
  if (functionKey) {
    const key = last.toUpperCase();
    return { key, code: key, keyCode: 111 + Number(functionKey[1]), ...modifiers };
  }
  return [...last].length === 1 ? characterKey(last, modifiers) : null;
}

export function characterKey(character: string, modifiers = NO_MODIFIERS): Key {
  const upper = character.toUpperCase();
  const letter = /^[A-Z]$/.test(upper);
  const digit = /^\d$/.test(character);
  const shifted = letter && character === upper && !modifiers.ctrlKey;
  return {
    ...modifiers,
    shiftKey: modifiers.shiftKey || shifted,
    key: modifiers.shiftKey && letter ? upper : character,
    code: letter ? `Key${upper}` : digit ? `Digit${character}` : character === ' ' ? 'Space' : '',
    keyCode: letter || digit ? upper.charCodeAt(0) : character === ' ' ? 32 : 0,
  };
}

export function sendKey(target: Element, type: 'keydown' | 'keypress' | 'keyup', key: Key): boolean {
  const charCode = type === 'keypress' ? (key.key === 'Enter' ? 13 : (key.key.codePointAt(0) ?? 0)) : 0;
  const event = new KeyboardEvent(type, {
    ...key,
    keyCode: type === 'keypress' ? charCode : key.keyCode,
    which: type === 'keypress' ? charCode : key.keyCode,
    charCode,
    bubbles: true,
    cancelable: true,
    composed: true,
  } as KeyboardEventInit);
  return target.dispatchEvent(event);
}

// Changes values as a user does: the page sees `beforeinput`, `input` and `change`.

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Sets it past the property that frameworks define on the element itself, so that they notice the change. */
export function setNativeValue(field: Field | HTMLSelectElement, value: string): void {
  const view = field.ownerDocument.defaultView as (Window & typeof globalThis) | null;
  const type = isInput(field)
    ? 'HTMLInputElement'
    : isTextArea(field)
      ? 'HTMLTextAreaElement'
      : 'HTMLSelectElement';
  const prototype = (view ?? window)[type].prototype;
  Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(field, value);
}

export function sendInput(target: Element, inputType: string, data: string | null): void {
  target.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType, data }));
}

export const sendChange = (target: Element): boolean =>
  target.dispatchEvent(new Event('change', { bubbles: true }));

/**
 * Inserts at the selection of the focused element. The browser's own command sends trusted events, but no `beforeinput`: an
 * editor that cancels it has taken the text itself.
 */
export function insertText(target: HTMLElement, text: string): void {
  const { ownerDocument } = target;
  const before = contentOf(target);
  if (text === '' && before === '') return;
  const [command, inputType] = text === '' ? DELETE : INSERT;
  if (!sendBeforeInput(target, inputType, text === '' ? null : text)) return;
  if (ownerDocument.execCommand(command, false, text) && contentOf(target) !== before) return;
  if (isInput(target) || isTextArea(target)) insertIntoField(target, text);
  else if (contentOf(target) === before) insertIntoRegion(target, text);
}

const INSERT = ['insertText', 'insertText'] as const;
const DELETE = ['delete', 'deleteContentBackward'] as const;

/** False if a listener cancelled it. */
const sendBeforeInput = (target: Element, inputType: string, data: string | null): boolean =>
  target.dispatchEvent(
    new InputEvent('beforeinput', { bubbles: true, cancelable: true, composed: true, inputType, data }),
  );

const contentOf = (target: HTMLElement): string =>
  isInput(target) || isTextArea(target) ? target.value : (target.textContent ?? '');

function insertIntoField(field: Field, text: string): void {
  const [start, end] = selectionOf(field);
  // As a user could not either.
  if (field.maxLength >= 0 && field.value.length - (end - start) + text.length > field.maxLength) return;
  setNativeValue(field, field.value.slice(0, start) + text + field.value.slice(end));
  sendInput(field, 'insertText', text);
}

function selectionOf(field: Field): [number, number] {
  const { selectionStart, selectionEnd, value } = field;
  // Number and date fields have no selection.
  return selectionStart === null || selectionEnd === null
    ? [0, value.length]
    : [selectionStart, selectionEnd];
}

function insertIntoRegion(region: HTMLElement, text: string): void {
  region.textContent = text;
  sendInput(region, 'insertText', text);
}

export function paste(target: HTMLElement, text: string): void {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const init = { bubbles: true, cancelable: true, composed: true, clipboardData: data };
  target.dispatchEvent(new ClipboardEvent('paste', init));
}

export function selectAll(target: HTMLElement): void {
  if (isInput(target) || isTextArea(target)) {
    target.select();
    return;
  }
  const selection = target.ownerDocument.getSelection();
  const range = target.ownerDocument.createRange();
  range.selectNodeContents(target);
  selection?.removeAllRanges();
  selection?.addRange(range);
}
