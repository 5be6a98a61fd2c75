/** `setValue`: replaces the content of a field. */
import { isDisabled, isReadOnly } from '../dom/disabled.ts';
import { isEditingHost, isInput, isSelect, isTextArea, isTextInput, isTickedInput } from '../dom/kinds.ts';
import { roleOf } from '../dom/roles.ts';
import { isSecret } from '../dom/secrets.ts';
import { folded } from '../dom/text.ts';
import { insertText, paste, selectAll, sendChange, sendInput, setNativeValue } from '../events/editing.ts';
import { giveFocus } from '../events/focus.ts';
import { characterKey, sendKey } from '../events/keyboard.ts';
import { clickAt } from '../events/pointer.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { FORMATS, normalised } from './formats.ts';
import { frames, newCover, reachElement, usable } from './reach.ts';
import { stepTo } from './stepping.ts';
import { typeCharacter } from './type.ts';

/** Longer texts are inserted at once. */
const MAX_KEYS = 100;

export async function setValue(id: number, text: string): Promise<void> {
  await fillElement(usable(id), text);
}

export async function fillElement(element: HTMLElement, text: string): Promise<void> {
  const field = fieldIn(element);
  if (isReadOnly(field) && !isPicker(field)) throw refused(field, 'NOT_EDITABLE', 'is read-only');
  const { target, at } = await reachElement(field);
  if (isTextInput(field) && FORMATS.has(field.type)) fillFormatted(field, text);
  else if (isTextInput(field) || isTextArea(field) || isEditingHost(field)) {
    clickAt(target, { at });
    await frames(2);
    refuseCovered(field);
    await replaceText(field, text);
  } else await stepTo(field, text);
}

/** A popup that opens when the field gets the focus comes first for a user. */
function refuseCovered(field: HTMLElement): void {
  const cover = newCover(field);
  if (cover !== null)
    throw refused(
      field,
      'ELEMENT_COVERED',
      `was covered by ${cover} when it got the focus. Nothing was entered: close that first`,
    );
  if (isDisabled(field))
    throw refused(field, 'ELEMENT_DISABLED', 'was disabled when it got the focus. Nothing was entered');
}

/** A read-only field that a date picker fills still takes its value. */
const isPicker = (field: Element): boolean =>
  field.hasAttribute('aria-haspopup') || /date|time|picker|calendar/i.test(`${field.className} ${field.id}`);

/** The element itself, or the field inside of a custom widget. */
function fieldIn(element: HTMLElement): HTMLElement {
  if (isSelect(element)) throw refused(element, 'NOT_EDITABLE', 'is a list: use selectDropdown');
  if (isTickedInput(element))
    throw refused(element, 'NOT_EDITABLE', 'is a box to tick: use check or uncheck');
  if (isInput(element) && element.type === 'file')
    throw new PageFailure(
      'USER_NEEDED',
      `${subjectOf(element)} takes a file, which only the user can choose.`,
      numberOf(element),
    );
  if (isTextInput(element) || isTextArea(element) || isEditingHost(element)) return element;
  const root = element.shadowRoot ?? element;
  const inner = root.querySelector<HTMLElement>(
    'input:not([type=hidden]):not([type=checkbox]):not([type=radio]):not([type=button]):not([type=submit]), textarea, [contenteditable]:not([contenteditable=false])',
  );
  if (inner) return inner;
  const role = roleOf(element);
  if (role === 'slider' || role === 'spinbutton') return element;
  throw refused(element, 'NOT_EDITABLE', 'takes no text');
}

const refused = (element: Element, code: PageFailure['code'], why: string): PageFailure =>
  new PageFailure(code, `${subjectOf(element)} ${why}.`, numberOf(element));

/** Dates, times, numbers, ranges and colours have a format of their own. */
function fillFormatted(field: HTMLInputElement, text: string): void {
  const value = text === '' ? '' : normalised(field, text);
  giveFocus(field);
  setNativeValue(field, value ?? '');
  if (value === null || (field.value === '' && text !== ''))
    throw refused(
      field,
      'INVALID_VALUE',
      `takes ${FORMATS.get(field.type)}, not ${JSON.stringify(text.slice(0, 60))}`,
    );
  sendInput(field, 'insertReplacementText', value);
  sendChange(field);
}

async function replaceText(field: HTMLElement, text: string): Promise<void> {
  giveFocus(field);
  selectAll(field);
  if (!isInput(field) && !isTextArea(field)) return await replaceRegion(field, text);
  if (text === '' || text.length > MAX_KEYS || text.includes('\n')) insertAtOnce(field, text);
  else for (const character of text) await typeCharacter(character);
  if (field.value !== text && !isFormatted(field, text)) {
    setNativeValue(field, text);
    sendInput(field, 'insertReplacementText', text);
  }
  sendChange(field);
  if (mayComplete(field)) expectReaction();
  if (field.value === '' && text !== '' && !isSecret(field))
    throw refused(field, 'INVALID_VALUE', 'did not take the text');
}

/** Fields of forms say so, or belong to one; others search or complete what is typed. */
const mayComplete = (field: HTMLInputElement | HTMLTextAreaElement): boolean =>
  isInput(field) &&
  (field.autocomplete === 'off' ||
    field.hasAttribute('role') ||
    field.type === 'search' ||
    field.form === null);

function insertAtOnce(field: HTMLElement, text: string): void {
  const last = characterKey([...text].at(-1) ?? 'Backspace');
  sendKey(field, 'keydown', last);
  insertText(field, text);
  sendKey(field, 'keyup', last);
}

/** Editors with a state of their own notice the selection, and take the text, a moment later. */
async function replaceRegion(region: HTMLElement, text: string): Promise<void> {
  await frames(2);
  insertAtOnce(region, text);
  await frames(3);
  if (text === '' || holds(region, text)) return;
  // Some take only what is pasted.
  selectAll(region);
  await frames(2);
  paste(region, text);
  await frames(3);
  if (!holds(region, text)) throw refused(region, 'INVALID_VALUE', 'did not take the text');
}

const holds = (region: HTMLElement, text: string): boolean =>
  folded(region.textContent ?? '').includes(folded(text.split('\n', 1)[0] ?? ''));

/** The page changed what was typed: a mask, a limit, upper case. */
function isFormatted(field: HTMLInputElement | HTMLTextAreaElement, text: string): boolean {
  const plain = (value: string): string => value.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
  const [now, wanted] = [plain(field.value), plain(text)];
  return now !== '' && (now === wanted || wanted.startsWith(now) || field.maxLength === field.value.length);
}
