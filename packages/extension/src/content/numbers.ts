/**
 * Numbers of elements. An element keeps its number while the document lives; an element that replaces a removed one with the
 * same role, name and place takes over its number, so that a page that renders itself again does not confuse a model.
 */

import { elementsIn } from './dom/flat-tree.ts';
import { roleOf } from './dom/kinds.ts';
import { nameOf } from './dom/names.ts';
import { textOf } from './dom/text.ts';
import { clickTarget, inTab, openAim } from './dom/visibility.ts';
import { PageFailure } from './page-error.ts';

type Entry = { element: WeakRef<Element>; readonly signature: string };

/** Beyond this, removed elements are forgotten. */
const MAX_KNOWN = 20_000;

const entries = new Map<number, Entry>();
let numbers = new WeakMap<Element, number>();
let last = 0;

export function numberOf(element: Element): number {
  const known = numbers.get(element);
  if (known !== undefined) return known;
  const signature = signatureOf(element);
  const number = freeNumber(signature) ?? ++last;
  assign(number, element, signature);
  return number;
}

function assign(number: number, element: Element, signature: string): void {
  numbers.set(element, number);
  entries.set(number, { element: new WeakRef(element), signature });
}

export function forgetNumbers(): void {
  entries.clear();
  numbers = new WeakMap();
  removed.clear();
  last = 0;
}

/** Numbers of removed elements by signature, collected once per snapshot. */
const removed = new Map<string, number[]>();

/** Called before elements are numbered. */
export function collectRemoved(): void {
  removed.clear();
  for (const [number, { element, signature }] of entries) {
    if (element.deref()?.isConnected) continue;
    if (entries.size > MAX_KNOWN) {
      entries.delete(number);
      continue;
    }
    const same = removed.get(signature);
    if (same) same.push(number);
    else removed.set(signature, [number]);
  }
}

const freeNumber = (signature: string): number | undefined => removed.get(signature)?.shift();

/** Throws if there is no such element any more. */
export function elementById(number: number): HTMLElement {
  const entry = entries.get(number);
  const element = entry?.element.deref();
  if (element?.isConnected) return element as HTMLElement;
  const match = entry && onlyMatch(entry.signature);
  if (match) {
    assign(number, match, entry.signature);
    return match;
  }
  const message = entry
    ? `Element ${number} is no longer on the page. The page has changed: use the numbers of its current state.`
    : `There is no element ${number} on the page.`;
  throw new PageFailure('ELEMENT_NOT_FOUND', message, number);
}

/** The only element without a number that looks the same. */
function onlyMatch(signature: string): HTMLElement | null {
  const [tag = ''] = signature.split('\n', 1);
  const same: HTMLElement[] = [];
  for (const element of elementsIn(document.documentElement)) {
    if (element.localName !== tag || numbers.has(element)) continue;
    if (signatureOf(element) === signature) same.push(element);
    if (same.length > 1) return null;
  }
  return same[0] ?? null;
}

const GROUPS = 'tr, li, article, [role="row"], [role="listitem"], [role="article"]';

/** Identifies an element by itself and its row or card; not by its position: pages insert and remove siblings. */
function signatureOf(element: Element): string {
  const attributes = ['id', 'name', 'type', 'href'].map((name) => element.getAttribute(name) ?? '');
  const group = element.parentElement?.closest(GROUPS);
  const around = group ? textOf(group, 80) : '';
  return [element.localName, roleOf(element), nameOf(element), ...attributes, around].join('\n');
}

export type NumberedBox = { readonly number: number; readonly box: DOMRect };

/** Where the elements are that a user can reach in the view, in the coordinates of the tab. */
export function numbersInView(): NumberedBox[] {
  return [...entries].flatMap(([number, { element: reference }]) => {
    const element = reference.deref();
    const visible = element?.isConnected ? clickTarget(element) : null;
    if (!visible || openAim(visible) === null) return [];
    const { left, top, width, height } = visible.getBoundingClientRect();
    const { x, y } = inTab({ x: left, y: top }, visible.ownerDocument);
    return [{ number, box: new DOMRect(x, y, width, height) }];
  });
}

/** The subject of a message: `Element 12 (button "Save")`. */
export function subjectOf(element: Element): string {
  const name = nameOf(element);
  const what = name === '' ? roleOf(element) : `${roleOf(element)} ${JSON.stringify(name.slice(0, 60))}`;
  return `Element ${numberOf(element)} (${what})`;
}
