/** The accessible name of an element, in the order of the specification, with hints for elements without one. */
import { appearanceOf, isDrawing } from './appearance.ts';
import { frameOf } from './flat-tree.ts';
import { isControl, isEditingHost, isInput, isPressedInput, isTickedInput } from './kinds.ts';
import { labelsOf } from './labels.ts';
import { roleOf } from './roles.ts';
import { oneLine, textOf } from './text.ts';
import { textBeside } from './text-beside.ts';

const MAX_LENGTH = 150;
const BUTTONS: Readonly<Record<string, string>> = { submit: 'Submit', reset: 'Reset', image: 'Submit' };
const FIELD_ROLES = new Set([
  'textbox',
  'searchbox',
  'combobox',
  'listbox',
  'spinbutton',
  'slider',
  'file',
  'color',
]);

export function nameOf(element: Element): string {
  return (
    labelledBy(element) ||
    given(element, 'aria-label') ||
    labelText(element) ||
    pressedText(element) ||
    given(element, 'alt') ||
    (isField(element) || isDrawing(element) ? '' : contentName(element)) ||
    HINTS.map((attribute) => given(element, attribute)).find((text) => text !== '') ||
    (isField(element) ? textBeside(element) || frameName(element) : '') ||
    hinted(element)
  );
}

const HINTS = [
  'title',
  'placeholder',
  'aria-placeholder',
  'data-placeholder',
  'data-tooltip',
  'data-title',
  'data-original-title',
  'tooltip',
];

/** An editor that fills its own frame has the name of the frame. */
function frameName(element: Element): string {
  const frame = element.localName === 'body' ? frameOf(element.ownerDocument) : null;
  return frame ? given(frame, 'aria-label') || given(frame, 'title') || textBeside(frame) : '';
}

const isField = (element: Element): boolean =>
  FIELD_ROLES.has(roleOf(element)) || isEditingHost(element) || isTickedInput(element);

/** Signs such as ★ or ✕ are no names if the title has words. */
function contentName(element: Element): string {
  const text = textOf(element, MAX_LENGTH);
  return text !== '' && !/[\p{L}\p{N}]/u.test(text) ? given(element, 'title') || text : text;
}

const given = (element: Element, attribute: string): string =>
  oneLine(element.getAttribute(attribute) ?? '', MAX_LENGTH);

function labelledBy(element: Element): string {
  const ids = element.getAttribute('aria-labelledby')?.trim();
  if (!ids) return '';
  const root = element.getRootNode() as Document | ShadowRoot;
  const texts = ids.split(/\s+/, 8).map((id) => {
    const target = root.getElementById(id);
    if (!target) return '';
    return target.getAttribute('aria-label') ?? textOf(target, MAX_LENGTH) ?? '';
  });
  return oneLine(texts.join(' '), MAX_LENGTH);
}

function labelText(element: Element): string {
  if (!isControl(element)) return '';
  const texts = labelsOf(element).map((label) => textOf(label, MAX_LENGTH));
  return oneLine(texts.join(' '), MAX_LENGTH);
}

function pressedText(element: Element): string {
  if (!isPressedInput(element)) return '';
  return element.type === 'image' ? '' : oneLine(element.value || (BUTTONS[element.type] ?? ''), MAX_LENGTH);
}

/** Icon buttons and unlabelled fields: from their markup. */
function hinted(element: Element): string {
  const icon = element.querySelector('[title], [alt], [aria-label], svg title');
  const label = icon?.getAttribute('aria-label') || icon?.getAttribute('title') || icon?.getAttribute('alt');
  if (label) return oneLine(label, MAX_LENGTH);
  if (icon?.localName === 'title') return oneLine(icon.textContent ?? '', MAX_LENGTH);
  if (isInput(element) && element.type === 'image') return 'Submit';
  return (
    words(element.getAttribute('name') ?? '') ||
    words(element.getAttribute('id') ?? '') ||
    (isField(element) ? '' : appearanceOf(element))
  );
}

/** `first_name` and `firstName` as words; a minus before a number stays. Generated ids are none. */
function words(id: string): string {
  if (id.length > 40 || /\d{3,}|^[:_]|^\w{1,2}$/.test(id)) return '';
  return id
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/(?<=\w)-+|-+(?!\d)|[_.[\]:]+/g, ' ')
    .trim();
}
