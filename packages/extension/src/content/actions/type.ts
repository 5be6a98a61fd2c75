/** `type` and `press`: keys go to the focused element, and do there what a browser would do. */

import { activeElement, closest } from '../dom/flat-tree.ts';
import {
  isButton,
  isEditingHost,
  isInput,
  isLink,
  isPressedInput,
  isReadOnly,
  isSelect,
  isTextArea,
  isTextInput,
  isTickedInput,
} from '../dom/kinds.ts';
import { isSecret } from '../dom/secrets.ts';
import { oneLine } from '../dom/text.ts';
import {
  characterKey,
  giveFocus,
  insertText,
  type Key,
  keyNamed,
  selectAll,
  sendChange,
  sendInput,
  sendKey,
  setNativeValue,
} from '../events.ts';
import { isIndicator } from '../indicator.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { moveFocus } from './focus.ts';
import { frames } from './reach.ts';
import { scrollerOf } from './scroll.ts';

/** Beyond this length text is inserted at once instead of key by key. */
const MAX_KEYS = 500;

const focused = (): HTMLElement => activeElement(document) ?? document.body;

const takesText = (element: Element): boolean =>
  isTextInput(element) ||
  isTextArea(element) ||
  isEditingHost(element) ||
  (element as HTMLElement).isContentEditable;

export async function type(text: string): Promise<void> {
  if (!takesText(focused()))
    throw new PageFailure('NOT_EDITABLE', 'No field has the focus: click or focus a field first.');
  if (isReadOnly(focused())) throw new PageFailure('NOT_EDITABLE', 'The focused field is read-only.');
  if ([...text].length > MAX_KEYS) insertText(focused(), text);
  else for (const character of text) await typeCharacter(character);
  const target = focused();
  if (isInput(target)) expectReaction();
  if (isInput(target) || isTextArea(target)) sendChange(target);
}

export async function typeCharacter(character: string): Promise<void> {
  const target = focused();
  if (character === '\n') {
    await press('Enter');
    return;
  }
  const key = characterKey(character);
  const down = sendKey(target, 'keydown', key) && sendKey(target, 'keypress', key);
  // A listener may have moved the focus.
  const receiver = focused();
  if (down && takesText(receiver)) insertText(receiver, character);
  sendKey(focused(), 'keyup', key);
}

/** Shortcuts for selecting, copying and pasting return what they did. */
export async function press(name: string): Promise<Edited | undefined> {
  const key = keyNamed(name);
  if (!key)
    throw new PageFailure(
      'UNSUPPORTED',
      `${JSON.stringify(name.slice(0, 40))} is not a key: use names such as Enter, Tab, Escape, ArrowDown or Control+A.`,
    );
  const target = focused();
  const printable = [...key.key].length === 1 || key.key === 'Enter';
  let down = sendKey(target, 'keydown', key);
  if (down && printable && !key.ctrlKey && !key.metaKey) down = sendKey(target, 'keypress', key);
  try {
    return down ? defaultAction(target, key) : undefined;
  } finally {
    sendKey(focused(), 'keyup', key);
    await frames(1);
  }
}

// What browsers do on a key: events of a script have no effect of their own.

/** Returns what a shortcut of editing has done, for the model. */
function defaultAction(target: HTMLElement, key: Key): Edited | undefined {
  const command = key.ctrlKey || key.metaKey;
  if (command && !key.altKey) return shortcut(target, key.key.toLowerCase());
  if (key.altKey) return undefined;
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
  return undefined;
}

type Edited = { readonly selected?: string; readonly copied?: string; readonly pasted?: string };

/** What was copied on this page: a script has no access to the clipboard of the user. */
let copied: string | null = null;

function shortcut(target: HTMLElement, letter: string): Edited | undefined {
  if (letter === 'a') {
    selectAll(editable(target) ? target : target.ownerDocument.body);
    const selected = selectedText(target);
    if (selected === '') throw unsupported('Nothing was selected: there is no text to select here.');
    return { selected: isSecret(target) ? '••••' : oneLine(selected, 200) };
  }
  if (letter === 'c' || letter === 'x') {
    const selected = selectedText(target);
    if (selected === '') throw unsupported('Nothing was copied: no text is selected.');
    if (isSecret(target)) throw unsupported('Nothing was copied: the field holds a secret.');
    const own = sendClipboard(target, letter === 'c' ? 'copy' : 'cut', '');
    copied = own ?? selected;
    if (letter === 'x' && own === null && editable(target) && !isReadOnly(target))
      target.ownerDocument.execCommand('delete');
    return { copied: oneLine(copied, 200) };
  }
  if (letter !== 'v') return undefined;
  if (copied === null) throw unsupported('Nothing was pasted: nothing was copied on this page before.');
  if (sendClipboard(target, 'paste', copied) === null) {
    if (!editable(target) || isReadOnly(target))
      throw unsupported('Nothing was pasted: no field has the focus.');
    insertText(target, copied);
  }
  return { pasted: oneLine(copied, 200) };
}

const unsupported = (message: string): PageFailure => new PageFailure('UNSUPPORTED', message);

function selectedText(target: HTMLElement): string {
  if (!isTextInput(target) && !isTextArea(target))
    return target.ownerDocument.getSelection()?.toString() ?? '';
  const { selectionStart, selectionEnd, value } = target;
  // Fields for numbers and addresses do not tell their selection.
  return selectionStart === null ? value : value.slice(selectionStart, selectionEnd ?? value.length);
}

/** What the page put on the clipboard itself, or an empty text if it took what was pasted; null if it did neither. */
function sendClipboard(target: HTMLElement, type: 'copy' | 'cut' | 'paste', text: string): string | null {
  const data = new DataTransfer();
  if (type === 'paste') data.setData('text/plain', text);
  const init = { bubbles: true, cancelable: true, composed: true, clipboardData: data };
  const isOurs = target.dispatchEvent(new ClipboardEvent(type, init));
  return isOurs ? null : data.getData('text/plain');
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
