/** The accessible name of an element, in the order of the specification, with labels, text beside it and other hints. */
import { appearanceOf, isDrawing } from './appearance.ts';
import { frameOf } from './flat-tree.ts';
import {
  isControl,
  isEditingHost,
  isElement,
  isInput,
  isPressedInput,
  isText,
  isTickedInput,
  roleOf,
} from './kinds.ts';
import { oneLine, textOf } from './text.ts';

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

// Labels of controls. `labels` of a control searches the whole document, so all are looked up at once.

type Labels = ReadonlyMap<Element, readonly HTMLLabelElement[]>;

let known: Map<Node, Labels> | null = null;

/** Kept until the running task of the event loop is done. */
function labelsIn(root: Document | ShadowRoot): Labels {
  if (!known) {
    known = new Map();
    queueMicrotask(() => {
      known = null;
    });
  }
  let labels = known.get(root);
  if (!labels) {
    labels = collect(root);
    known.set(root, labels);
  }
  return labels;
}

function collect(root: Document | ShadowRoot): Labels {
  const labels = new Map<Element, HTMLLabelElement[]>();
  for (const label of root.querySelectorAll('label')) {
    const { control } = label;
    const others = control && labels.get(control);
    if (others) others.push(label);
    else if (control) labels.set(control, [label]);
  }
  return labels;
}

export const labelsOf = (element: Element): readonly HTMLLabelElement[] =>
  labelsIn(element.getRootNode() as Document | ShadowRoot).get(element) ?? [];

// The text that stands for the label of a field without one: before it, in the cell before it, or over it.

const MAX_BESIDE = 60;
/** How many boxes around a field that contain nothing else are left. */
const MAX_BOXES = 3;
const CONTROLS = 'input, select, textarea, button, a, [role], [tabindex], [contenteditable]';

function textBeside(field: Element): string {
  const ticked = field.localName === 'input' && /^(?:checkbox|radio)$/.test((field as HTMLInputElement).type);
  if (ticked) return after(field) || before(field) || cellBefore(field) || rowText(field);
  return before(field) || after(field) || cellBefore(field) || aroundBoxes(field);
}

const before = (node: Node): string => firstText(node, 'previousSibling');
const after = (node: Node): string => firstText(node, 'nextSibling');

/** The nearest text in one direction; none if something else is between. */
function firstText(start: Node, direction: 'previousSibling' | 'nextSibling'): string {
  for (let node = start[direction]; node; node = node[direction]) {
    const text = sideText(node);
    if (/[\p{L}\p{N}]/u.test(text)) return text;
    if (!isPassedOver(node)) return '';
  }
  return '';
}

/** Blanks, line breaks, and what nobody sees. */
const isPassedOver = (node: Node): boolean => {
  if (isText(node)) return node.data.trim() === '';
  if (!isElement(node)) return true;
  return node.localName === 'br' || !node.checkVisibility() || node.getAttribute('aria-hidden') === 'true';
};

function sideText(node: Node): string {
  if (isText(node)) return oneLine(node.data, MAX_BESIDE);
  return isElement(node) && isLabel(node) ? textOf(node, MAX_BESIDE) : '';
}

function cellBefore(field: Element): string {
  const cell = field.closest('td, dd, [role="cell"], [role="gridcell"]')?.previousElementSibling;
  return cell && isLabel(cell) ? textOf(cell, MAX_BESIDE) : '';
}

const ROWS = 'tr, li, [role="row"], [role="listitem"], [role="option"], article';

/** A box that chooses its row. */
function rowText(field: Element): string {
  const row = field.closest(ROWS) ?? field.parentElement;
  if (!row || row.querySelectorAll('input[type="checkbox"], input[type="radio"]').length > 1) return '';
  const texts = [...row.children].filter(isLabel).map((each) => textOf(each, MAX_BESIDE));
  return oneLine(texts.join(' '), MAX_BESIDE);
}

/** Layouts wrap fields: the label is beside the box. */
function aroundBoxes(field: Element): string {
  let box = field.parentElement;
  for (let count = 0; box && count < MAX_BOXES; count++) {
    if (box.querySelectorAll('input, select, textarea').length > 1 || box.localName === 'form') return '';
    const text = before(box);
    if (text !== '') return text;
    box = box.parentElement;
  }
  return '';
}

/** Only text, and not much. */
const isLabel = (element: Element): boolean =>
  (element.textContent ?? '').trim().length <= MAX_BESIDE &&
  !element.matches(`${CONTROLS}, script, style`) &&
  element.querySelector(CONTROLS) === null &&
  element.checkVisibility();
