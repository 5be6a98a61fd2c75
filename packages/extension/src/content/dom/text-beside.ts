/** The text that stands for the label of a field without one: before it, in the cell before it, or over it. */
import { isElement, isText } from './kinds.ts';
import { oneLine, textOf } from './text.ts';

const MAX_LENGTH = 60;
/** How many boxes around a field that contain nothing else are left. */
const MAX_BOXES = 3;
const CONTROLS = 'input, select, textarea, button, a, [role], [tabindex], [contenteditable]';

export function textBeside(field: Element): string {
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
  if (isText(node)) return oneLine(node.data, MAX_LENGTH);
  return isElement(node) && isLabel(node) ? textOf(node, MAX_LENGTH) : '';
}

function cellBefore(field: Element): string {
  const cell = field.closest('td, dd, [role="cell"], [role="gridcell"]')?.previousElementSibling;
  return cell && isLabel(cell) ? textOf(cell, MAX_LENGTH) : '';
}

const ROWS = 'tr, li, [role="row"], [role="listitem"], [role="option"], article';

/** A box that chooses its row. */
function rowText(field: Element): string {
  const row = field.closest(ROWS) ?? field.parentElement;
  if (!row || row.querySelectorAll('input[type="checkbox"], input[type="radio"]').length > 1) return '';
  const texts = [...row.children].filter(isLabel).map((each) => textOf(each, MAX_LENGTH));
  return oneLine(texts.join(' '), MAX_LENGTH);
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
  (element.textContent ?? '').trim().length <= MAX_LENGTH &&
  !element.matches(`${CONTROLS}, script, style`) &&
  element.querySelector(CONTROLS) === null &&
  element.checkVisibility();
