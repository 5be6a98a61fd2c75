/** What browsers do on a key: events of a script have no effect of their own. */
import { closest } from '../dom/flat-tree.ts';
import {
  isButton,
  isEditingHost,
  isInput,
  isLink,
  isPressedInput,
  isSelect,
  isTextArea,
  isTextInput,
  isTickedInput,
} from '../dom/kinds.ts';
import { insertText, selectAll, sendChange, sendInput, setNativeValue } from '../events/editing.ts';
import { giveFocus } from '../events/focus.ts';
import type { Key } from '../events/keyboard.ts';
import { isIndicator } from '../indicator.ts';
import { moveFocus } from './focus.ts';
import { scrollerOf } from './scroll.ts';

export function defaultAction(target: HTMLElement, key: Key): void {
  const command = key.ctrlKey || key.metaKey;
  if (command && key.key.toLowerCase() === 'a')
    selectAll(editable(target) ? target : target.ownerDocument.body);
  if (command || key.altKey) return;
  switch (key.key) {
    case 'Tab':
      moveFocus(target, key.shiftKey ? -1 : 1);
      break;
    case 'Enter':
      enter(target);
      break;
    case 'Escape':
      leave(target);
      break;
    case ' ':
      space(target);
      break;
    case 'Backspace':
      if (editable(target)) target.ownerDocument.execCommand('delete');
      break;
    case 'Delete':
      if (editable(target)) target.ownerDocument.execCommand('forwardDelete');
      break;
    default:
      if (MOVES.test(key.key)) moved(target, key);
      else if ([...key.key].length === 1 && editable(target)) insertText(target, key.key);
  }
}

const MOVES = /^(?:Arrow|Page|Home$|End$)/;

const editable = (element: HTMLElement): boolean =>
  isTextInput(element) || isTextArea(element) || isEditingHost(element) || element.isContentEditable;

function enter(target: HTMLElement): void {
  if (isTextArea(target)) insertText(target, '\n');
  else if (isEditingHost(target) || target.isContentEditable)
    target.ownerDocument.execCommand('insertParagraph');
  else if (isLink(target) || isButton(target) || isPressedInput(target) || target.localName === 'summary')
    target.click();
  else if (isInput(target) && target.form) submit(target);
}

/** Implicit submission: through the default button, or directly if there is none. */
function submit({ form }: HTMLInputElement): void {
  if (!form) return;
  const button = [...form.elements].find(
    (each): each is HTMLButtonElement =>
      (each as HTMLButtonElement).type === 'submit' || (each as HTMLInputElement).type === 'image',
  );
  if (button) {
    if (!button.disabled) button.click();
    return;
  }
  const fields = [...form.elements].filter((each) => isTextInput(each));
  if (fields.length <= 1) form.requestSubmit();
}

function leave(target: HTMLElement): void {
  const dialog = [...target.ownerDocument.querySelectorAll<HTMLDialogElement>('dialog:modal')].at(-1);
  if (dialog) {
    if (dialog.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close();
    return;
  }
  const popover = [...target.ownerDocument.querySelectorAll<HTMLElement>(':popover-open')].findLast(
    (each) => !isIndicator(each),
  );
  popover?.hidePopover();
}

function space(target: HTMLElement): void {
  if (editable(target)) insertText(target, ' ');
  else if (
    isButton(target) ||
    isPressedInput(target) ||
    isTickedInput(target) ||
    target.localName === 'summary'
  )
    target.click();
  else scrollBy(target, 0.9);
}

function moved(target: HTMLElement, key: Key): void {
  const forward = /Down|Right|End/.test(key.key);
  if (isSelect(target)) step(target, forward);
  else if (isInput(target) && target.type === 'radio') nextRadio(target, forward);
  else if (isInput(target) && (target.type === 'range' || target.type === 'number'))
    stepNumber(target, key, forward);
  else if (editable(target)) moveCaret(target, key);
  else scrollBy(target, (forward ? 1 : -1) * pagesOf(key));
}

const pagesOf = ({ key }: Key): number =>
  key.startsWith('Arrow') ? 0.1 : key.startsWith('Page') ? 0.9 : 1_000;

function step(select: HTMLSelectElement, forward: boolean): void {
  const next = select.selectedIndex + (forward ? 1 : -1);
  if (next < 0 || next >= select.options.length) return;
  select.selectedIndex = next;
  sendInput(select, '', null);
  sendChange(select);
}

function nextRadio(radio: HTMLInputElement, forward: boolean): void {
  const root = radio.form ?? radio.ownerDocument;
  const group = [...root.querySelectorAll<HTMLInputElement>('input[type=radio]')].filter(
    ({ name, disabled }) => name === radio.name && !disabled,
  );
  const next = group.at((group.indexOf(radio) + (forward ? 1 : -1) + group.length) % group.length);
  if (next) giveFocus(next);
  next?.click();
}

function stepNumber(field: HTMLInputElement, key: Key, forward: boolean): void {
  if (field.type === 'number' && !/^Arrow(?:Up|Down)$/.test(key.key)) return;
  const up =
    field.type === 'number' || key.key === 'ArrowUp' || key.key === 'ArrowDown'
      ? key.key === 'ArrowUp'
      : forward;
  const before = field.value;
  if (up) field.stepUp();
  else field.stepDown();
  const value = field.value;
  if (value === before) return;
  setNativeValue(field, value);
  sendInput(field, 'insertReplacementText', value);
  sendChange(field);
}

function moveCaret(target: HTMLElement, { key, shiftKey }: Key): void {
  const selection = target.ownerDocument.getSelection();
  const how = shiftKey ? 'extend' : 'move';
  const direction = /Left|Up|Home/.test(key) ? 'backward' : 'forward';
  const unit = /Up|Down/.test(key) ? 'line' : /Home|End/.test(key) ? 'lineboundary' : 'character';
  selection?.modify(how, direction, unit);
}

function scrollBy(target: HTMLElement, pages: number): void {
  const scroller = scrollerOf(closest(target, 'body') === target ? null : target);
  scroller.scrollBy({ top: pages * scroller.clientHeight, behavior: 'instant' });
}
