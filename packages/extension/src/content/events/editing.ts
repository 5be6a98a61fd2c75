/** Changes values as a user does: the page sees `beforeinput`, `input` and `change`. */
import { isInput, isTextArea } from '../dom/kinds.ts';

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
export const sendBeforeInput = (target: Element, inputType: string, data: string | null): boolean =>
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
