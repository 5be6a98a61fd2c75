/** Brings an element into reach as a user would, or says what is in the way. */
import { sizeOf } from '../dom/appearance.ts';
import { activeElement, ancestorsOf, closest, contains } from '../dom/flat-tree.ts';
import { isDisabled, isInert, roleOf } from '../dom/kinds.ts';
import { nameOf } from '../dom/names.ts';
import { textOf } from '../dom/text.ts';
import {
  aimsOf,
  clickTarget,
  elementAt,
  inTab,
  openAim,
  type Point,
  pictureOf,
  reaches,
} from '../dom/visibility.ts';
import { sendMouse } from '../events.ts';
import { elementById, numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';

export type Aim = {
  readonly element: HTMLElement;
  /** what is under the pointer: a part of the element, or its label */
  readonly target: Element;
  readonly at: Point;
};

const fail = (code: PageFailure['code'], message: string, element: Element): PageFailure =>
  new PageFailure(code, message, numberOf(element));

/** The element, rendered and enabled. */
export function usable(id: number): HTMLElement {
  const element = rendered(id);
  if (isDisabled(element)) throw fail('ELEMENT_DISABLED', `${subjectOf(element)} is disabled.`, element);
  if (isInert(element))
    throw fail('ELEMENT_COVERED', `${subjectOf(element)} cannot be used while a dialog is open.`, element);
  return element;
}

export function rendered(id: number): HTMLElement {
  const element = elementById(id);
  if (!clickTarget(element)) throw fail('ELEMENT_HIDDEN', `${subjectOf(element)} is hidden.`, element);
  return element;
}

const FRAMES = 3;
/** Fixed headers and columns may cover some of them. */
const PLACES = [
  ['center', 'nearest'],
  ['center', 'center'],
  ['start', 'center'],
  ['end', 'end'],
] as const;

/** Scrolls to it and waits until it stays in place. */
export async function reach(id: number): Promise<Aim> {
  return await reachElement(usable(id));
}

export async function reachElement(element: HTMLElement): Promise<Aim> {
  const visible = clickTarget(element) ?? element;
  const open = openAim(visible);
  if (!open) {
    for (const [block, inline] of PLACES) {
      (pictureOf(visible) ?? visible).scrollIntoView({ block, inline, behavior: 'instant' });
      await frames(FRAMES);
      if (openAim(visible)) break;
    }
  }
  if (!openAim(visible) && closePopup(element, aimsOf(visible)[0])) await frames(FRAMES);
  const at = openAim(visible);
  if (!at) throw covered(element, aimsOf(visible)[0]);
  const hit = elementAt(at, element.ownerDocument);
  return { element, target: hit && reaches(visible, hit) && visible.contains(hit) ? hit : visible, at };
}

/** `aim` is a point of its document. */
export function covered(element: HTMLElement, aim: Point | undefined): PageFailure {
  const cover = coverAt(element, aim);
  if (!cover) return fail('ELEMENT_HIDDEN', `${subjectOf(element)} is outside of the visible page.`, element);
  return fail(
    'ELEMENT_COVERED',
    `${subjectOf(element)} is covered by ${coverName(cover, element)}: close or move that first.`,
    element,
  );
}

function coverBox(cover: Element, element: Element): Element {
  const dialog = closest(cover, '[role="dialog"], [role="alertdialog"], dialog, [aria-modal]');
  if (dialog) return dialog;
  let box = cover;
  for (const ancestor of ancestorsOf(cover)) {
    if (contains(ancestor, element)) break;
    box = ancestor;
  }
  return box;
}

function coverAt(element: HTMLElement, aim: Point | undefined): Element | null {
  const current = aim && inTab(aim, element.ownerDocument);
  return current ? elementAt(current, document) : null;
}

/**
 * A popup without text, such as the colours of a picker, has nothing that closes it: a user presses beside it. False if the
 * element is not covered by one.
 */
function closePopup(element: HTMLElement, aim: Point | undefined): boolean {
  const cover = coverAt(element, aim);
  const box = cover && coverBox(cover, element);
  if (!box || textOf(box, 20) !== '' || box.querySelector(USABLE) || contains(box, element)) return false;
  const { body } = box.ownerDocument;
  const { width, height } = box.getBoundingClientRect();
  if (box === body || width * height > (window.innerWidth * window.innerHeight) / 2) return false;
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup'])
    sendMouse(body, type, { at: { x: 0, y: window.innerHeight - 1 } });
  return true;
}

const USABLE = 'a[href], button, input, select, textarea, [role], [tabindex], iframe';

/** What has come over a field that could be used before, such as a popup; null if nothing has. */
export function newCover(field: HTMLElement): string | null {
  const visible = field.isConnected ? clickTarget(field) : null;
  if (!visible || openAim(visible)) return null;
  const cover = coverAt(field, aimsOf(visible)[0]);
  return cover && !contains(cover, activeElement(document) ?? field) ? coverName(cover, field) : null;
}

/** The dialog, or the whole box that lies over the element. */
function coverName(cover: Element, element: Element): string {
  const box = coverBox(cover, element);
  const text =
    box.getAttribute('aria-label') || textOf(box, 100) || nameOf(box) || `a box of ${sizeOf(box)} pixels`;
  const role = roleOf(box) === 'generic' ? 'another element' : `a ${roleOf(box)}`;
  return text ? `${role} (${JSON.stringify(text)})` : role;
}

/** Resolves after some frames; a tab in the background has none, so time counts as well. */
export function frames(count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = (left: number): void => {
    if (left === 0) resolve();
    else requestAnimationFrame(() => step(left - 1));
  };
  step(count);
  setTimeout(resolve, count * 50);
  return promise;
}
