/** `selectText`: selects text as a user does with the mouse. */
import { closest, elementsIn, frameDocument, shadowOf } from '../dom/flat-tree.ts';
import { isEditingHost, isText, isTextArea, isTextInput } from '../dom/kinds.ts';
import { isSecret } from '../dom/secrets.ts';
import { isSkipped, oneLine } from '../dom/text.ts';
import { isRendered, type Point } from '../dom/visibility.ts';
import { giveFocus, moveTo, sendMouse } from '../events.ts';
import { elementById, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { frames } from './reach.ts';

type Field = HTMLInputElement | HTMLTextAreaElement;
export type SelectedText = { readonly selected: string };

/** The first occurrence on the page, or in an element; an empty text is all of the element. */
export async function selectText({
  text,
  within,
}: {
  readonly text: string;
  readonly within?: number;
}): Promise<SelectedText> {
  const root = within === undefined ? document.body : elementById(within);
  if (isField(root)) return await selectInField(root, text);
  const range = rangeOf(root, text);
  if (range) return await selectRange(range);
  for (const each of elementsIn(root))
    if (isField(each) && isRendered(each) && !isSecret(each) && positionIn(each.value, text))
      return await selectInField(each, text);
  const place = within === undefined ? 'on the page' : `in ${subjectOf(root)}`;
  throw new PageFailure('TEXT_NOT_FOUND', `${JSON.stringify(text.slice(0, 100))} is not ${place}.`, within);
}

const isField = (element: Element): element is Field => isTextInput(element) || isTextArea(element);

async function selectInField(field: Field, text: string): Promise<SelectedText> {
  const found = text === '' ? { start: 0, end: field.value.length } : positionIn(field.value, text);
  if (!found)
    throw new PageFailure(
      'TEXT_NOT_FOUND',
      `${JSON.stringify(text.slice(0, 100))} is not in ${subjectOf(field)}.`,
    );
  giveFocus(field);
  // Number and date fields can only be selected as a whole.
  if (field.selectionStart === null) field.select();
  else field.setSelectionRange(found.start, found.end);
  field.dispatchEvent(new Event('select', { bubbles: true }));
  await frames(2);
  return { selected: isSecret(field) ? '••••' : oneLine(field.value.slice(found.start, found.end), 300) };
}

/** As written, or else without regard to case and blanks. */
function positionIn(content: string, text: string): { start: number; end: number } | null {
  const exact = content.indexOf(text);
  if (exact !== -1) return { start: exact, end: exact + text.length };
  const words = text.trim().split(/\s+/).slice(0, 500);
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('\\s+');
  const match = pattern === '' ? null : new RegExp(pattern, 'i').exec(content);
  return match && { start: match.index, end: match.index + match[0].length };
}

const MAX_NODES = 20_000;

/** Over the rendered text of an element, its shadow roots and frames. */
function rangeOf(root: HTMLElement, text: string): Range | null {
  const inner = [...elementsIn(root)].flatMap((each) => shadowOf(each) ?? frameDocument(each)?.body ?? []);
  for (const tree of [root, ...inner]) {
    const range = rangeIn(tree, text);
    if (range) return range;
  }
  return null;
}

function rangeIn(tree: Node, text: string): Range | null {
  const document = tree.ownerDocument ?? window.document;
  const walker = document.createTreeWalker(tree, NodeFilter.SHOW_TEXT);
  const nodes: { readonly node: Text; readonly start: number }[] = [];
  let content = '';
  let block: Element | null = null;
  for (let node = walker.nextNode(); node && nodes.length < MAX_NODES; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent && (isSkipped(parent) || !parent.checkVisibility())) continue;
    // A block separates words as a blank does.
    const own = blockAround(parent);
    if (block && own !== block) content += '\n';
    block = own;
    nodes.push({ node: node as Text, start: content.length });
    content += (node as Text).data;
  }
  const found = text === '' ? trimmed(content) : positionIn(content, text);
  const start = found && nodes.findLast((each) => each.start <= found.start);
  const end = found && nodes.findLast((each) => each.start < found.end);
  if (!start || !end) return null;
  const range = document.createRange();
  range.setStart(start.node, Math.min(found.start - start.start, start.node.length));
  range.setEnd(end.node, Math.min(found.end - end.start, end.node.length));
  return range;
}

function blockAround(element: Element | null): Element | null {
  let block = element;
  while (block && getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
  return block;
}

function trimmed(content: string): { start: number; end: number } | null {
  const start = content.search(/\S/);
  return start === -1 ? null : { start, end: content.trimEnd().length };
}

/** Pages show their own tools when the mouse is released over a selection. */
async function selectRange(range: Range): Promise<SelectedText> {
  const [first, last] = [elementOf(range.startContainer), elementOf(range.endContainer)];
  first.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
  await frames(2);
  const host = closest(first, '[contenteditable], body');
  if (host && isEditingHost(host)) giveFocus(host as HTMLElement);
  const boxes = [...range.getClientRects()];
  const [begin, end] = [corner(boxes[0], 'left'), corner(boxes.at(-1), 'right')];
  moveTo(first, begin);
  sendMouse(first, 'pointerdown', { at: begin });
  sendMouse(first, 'mousedown', { at: begin });
  const selection = first.ownerDocument.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  for (const type of ['pointermove', 'mousemove']) sendMouse(last, type, { at: end, detail: 0, held: true });
  sendMouse(last, 'pointerup', { at: end });
  sendMouse(last, 'mouseup', { at: end });
  await frames(2);
  const selected = oneLine(selection?.toString() ?? '', 300);
  if (selected === '')
    throw new PageFailure('UNSUPPORTED', 'The page does not let this text be selected: nothing is selected.');
  return { selected };
}

const elementOf = (node: Node): Element =>
  isText(node) ? (node.parentElement ?? document.body) : (node as Element);

const corner = (box: DOMRect | undefined, side: 'left' | 'right'): Point =>
  box ? { x: side === 'left' ? box.left + 1 : box.right - 1, y: box.top + box.height / 2 } : { x: 0, y: 0 };
