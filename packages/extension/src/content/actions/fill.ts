/** `setValue`: replaces the content of a field. */

import { ancestorsOf } from '../dom/flat-tree.ts';
import {
  isDisabled,
  isEditingHost,
  isInput,
  isReadOnly,
  isSelect,
  isTextArea,
  isTextInput,
  isTickedInput,
  roleOf,
} from '../dom/kinds.ts';
import { isSecret } from '../dom/secrets.ts';
import { folded } from '../dom/text.ts';
import {
  characterKey,
  clickAt,
  giveFocus,
  insertText,
  keyNamed,
  paste,
  selectAll,
  sendChange,
  sendInput,
  sendKey,
  sendMouse,
  setNativeValue,
} from '../events.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { expectReaction } from '../settle.ts';
import { moveAndRelease } from './pointer.ts';
import { frames, newCover, reachElement, usable } from './reach.ts';
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

/** Values of input fields with a format: what a person writes, as the field takes it. */

/** What a field takes, for messages. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', 'a date such as 2026-12-24'],
  ['time', 'a time such as 14:30'],
  ['datetime-local', 'a date and time such as 2026-12-24T14:30'],
  ['month', 'a month such as 2026-12'],
  ['week', 'a week such as 2026-W52'],
  ['number', 'a number'],
  ['range', 'a number'],
  ['color', 'a colour such as #ff8800'],
]);

/** Null if it cannot be read. */
function normalised(field: HTMLInputElement, text: string): string | null {
  const trimmed = text.trim();
  switch (field.type) {
    case 'date':
      return dateOf(trimmed);
    case 'time':
      return timeOf(trimmed);
    case 'datetime-local':
      return dateTimeOf(trimmed);
    case 'month':
      return /^\d{4}-\d{2}$/.test(trimmed)
        ? trimmed
        : ((dateOf(`1 ${trimmed}`) ?? dateOf(trimmed))?.slice(0, 7) ?? null);
    case 'number':
    case 'range':
      return numberIn(trimmed);
    case 'color':
      return colorOf(trimmed, field.ownerDocument);
    default:
      return trimmed;
  }
}

const two = (part: string | number): string => String(part).padStart(2, '0');

/** ISO, 24.12.2026, 12/24/2026 (24/12/2026 where the month cannot be first), or with the name of the month. */
function dateOf(text: string): string | null {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:T.*)?$/.exec(text);
  if (iso) return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text);
  if (dotted) return checked(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(text);
  if (slashed) {
    const [first, second, year] = [Number(slashed[1]), Number(slashed[2]), Number(slashed[3])];
    return first > 12 ? checked(year, second, first) : checked(year, first, second);
  }
  if (!/[a-z]{3}/i.test(text) || !/\d{4}/.test(text)) return null;
  const parsed = new Date(text.replace(/(\d)(?:st|nd|rd|th)\b/g, '$1').replace(/\bof\b/g, ' '));
  if (Number.isNaN(parsed.getTime())) return null;
  return checked(parsed.getFullYear(), parsed.getMonth() + 1, parsed.getDate());
}

/** Null for a day that does not exist. */
function checked(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
    : null;
}

function timeOf(text: string): string | null {
  const match = /^(\d{1,2})(?:[:.](\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?m\.?)?$/i.exec(text);
  if (!match) return null;
  const [, hour = '', minute = '00', second, half] = match;
  if (!text.includes(':') && !text.includes('.') && !half) return null;
  const plain = Number(hour);
  if (half && (plain < 1 || plain > 12)) return null;
  const hours = half ? (plain % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : plain;
  if (hours > 23 || Number(minute) > 59) return null;
  return `${two(hours)}:${minute}${second ? `:${second}` : ''}`;
}

function dateTimeOf(text: string): string | null {
  const parts = /^(.*\d{4}|\d{4}-\d{2}-\d{2})(?:T|,?\s+(?:at\s+)?)(\d{1,2}.*)$/i.exec(text);
  const [date, time] = [dateOf(parts?.[1] ?? ''), timeOf(parts?.[2] ?? '')];
  return date && time ? `${date}T${time}` : null;
}

function numberIn(text: string): string | null {
  const plain = text.replace(/[\s'_]/g, '');
  const grouped = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain)
    ? plain.replaceAll(',', '')
    : plain.replace(',', '.');
  const digits = grouped.replace(/^[$€£¥]|[$€£¥%]$/g, '');
  return digits !== '' && Number.isFinite(Number(digits)) ? digits : null;
}

function colorOf(text: string, document: Document): string | null {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !CSS.supports('color', text)) return null;
  context.fillStyle = text;
  return /^#[0-9a-f]{6}$/.test(context.fillStyle) ? context.fillStyle : null;
}

// Custom sliders and spin buttons, which are operated with arrow keys.

const MAX_STEPS = 300;

/** Presses arrow keys until the value is reached. */
async function stepTo(element: HTMLElement, text: string): Promise<void> {
  const wanted = Number(text.replace(/[^\d.-]/g, ''));
  const limits = `${element.getAttribute('aria-valuemin') ?? ''} to ${element.getAttribute('aria-valuemax') ?? ''}`;
  const refuse = (why: string): PageFailure =>
    new PageFailure('INVALID_VALUE', `${subjectOf(element)} ${why}.`, numberOf(element));
  if (text.trim() === '' || Number.isNaN(wanted))
    throw refuse(`takes a number (${limits}), not ${JSON.stringify(text.slice(0, 40))}`);
  if (Number.isNaN(current(element))) throw refuse('takes no text');
  giveFocus(element);
  for (let step = 0; step < MAX_STEPS; step++) {
    const before = current(element);
    if (before === wanted) return;
    const key = keyNamed(wanted > before ? 'ArrowRight' : 'ArrowLeft');
    const other = keyNamed(wanted > before ? 'ArrowUp' : 'ArrowDown');
    for (const each of [key, other]) {
      if (!each || current(element) !== before) continue;
      sendKey(element, 'keydown', each);
      sendKey(element, 'keyup', each);
      if (current(element) === before) await frames(1);
    }
    const after = current(element);
    if (after === before && step === 0 && (await pointTo(element, wanted))) return;
    if (after === before) throw refuse(`stays at ${before}; it takes ${limits}`);
    if (before < wanted !== after < wanted && after !== wanted)
      throw refuse(`has no value ${wanted}: it went from ${before} to ${after}`);
  }
  if (await pointTo(element, wanted)) return;
  throw refuse(`did not reach ${wanted}`);
}

/** Drags the handle along its track. False if the value is not reached. */
async function pointTo(element: HTMLElement, wanted: number): Promise<boolean> {
  const [min, max] = ['aria-valuemin', 'aria-valuemax'].map((name) => Number(element.getAttribute(name)));
  const track = trackOf(element);
  if (!track || min === undefined || max === undefined || !(max > min)) return false;
  const { target, at } = await reachElement(element);
  const share = Math.min(1, Math.max(0, (wanted - min) / (max - min)));
  const box = track.getBoundingClientRect();
  const isUpright = element.getAttribute('aria-orientation') === 'vertical';
  const isReversed = isUpright || getComputedStyle(track).direction === 'rtl';
  const part = isReversed ? 1 - share : share;
  const end = isUpright
    ? { x: at.x, y: box.top + box.height * part }
    : { x: box.left + box.width * part, y: at.y };
  sendMouse(target, 'pointerdown', { at });
  sendMouse(target, 'mousedown', { at });
  await moveAndRelease(target, at, end);
  await frames(1);
  return current(element) === wanted;
}

/** The nearest box that is much longer than the handle. */
function trackOf(element: Element): Element | null {
  const own = element.getBoundingClientRect();
  for (const ancestor of [...ancestorsOf(element)].slice(0, 3)) {
    const { width, height } = ancestor.getBoundingClientRect();
    if (Math.max(width, height) > 3 * Math.max(own.width, own.height)) return ancestor;
  }
  return null;
}

const current = (element: Element): number => Number(element.getAttribute('aria-valuenow') ?? Number.NaN);
