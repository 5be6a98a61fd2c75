/** The text that stands for the label of a field without one: before it, in the cell before it, or over it. */
import { isElement, isText } from './kinds.ts';
import { oneLine, textOf } from './text.ts';

const LONGEST = 60;

export function textBeside(field: Element): string {
  const ticked = field.localName === 'input' && /^(?:checkbox|radio)$/.test((field as HTMLInputElement).type);
  const sides = ticked
    ? [field.nextSibling, field.previousSibling]
    : [field.previousSibling, field.nextSibling];
  for (const side of sides) {
    const back = side !== null && side === field.previousSibling;
    for (let node: Node | null = side; node; node = back ? node.previousSibling : node.nextSibling) {
      const text = sideText(node);
      if (text !== '') return text;
      if (!isBlank(node)) break;
    }
  }
  const cell = field.closest('td, dd, [role="cell"], [role="gridcell"]')?.previousElementSibling;
  return cell && isLabel(cell) ? textOf(cell, LONGEST) : '';
}

const isBlank = (node: Node): boolean =>
  (isText(node) && node.data.trim() === '') || (node as Element).localName === 'br';

function sideText(node: Node | null): string {
  if (!node) return '';
  if (isText(node)) return oneLine(node.data, LONGEST);
  if (!isElement(node) || node.localName === 'br') return '';
  return isLabel(node) ? textOf(node, LONGEST) : '';
}

/** Only text, and not much. */
const isLabel = (element: Element): boolean =>
  (element.textContent ?? '').trim().length <= LONGEST &&
  element.querySelector('input, select, textarea, button, a') === null &&
  !element.matches('input, select, textarea, button, a, script, style');
