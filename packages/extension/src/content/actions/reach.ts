/** Brings an element into reach as a user would, or says what is in the way. */
import { isDisabled, isInert } from '../dom/disabled.ts';
import { activeElement, ancestorsOf, closest, contains } from '../dom/flat-tree.ts';
import { pictureOf } from '../dom/image-maps.ts';
import { nameOf } from '../dom/names.ts';
import { roleOf } from '../dom/roles.ts';
import { textOf } from '../dom/text.ts';
import { aimsOf, clickTarget, elementAt, inTab, openAim, type Point, reaches } from '../dom/visibility.ts';
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

function coverAt(element: HTMLElement, aim: Point | undefined): Element | null {
  const current = aim && inTab(aim, element.ownerDocument);
  return current ? elementAt(current, document) : null;
}

/** What has come over a field that could be used before, such as a popup; null if nothing has. */
export function newCover(field: HTMLElement): string | null {
  const visible = field.isConnected ? clickTarget(field) : null;
  if (!visible || openAim(visible)) return null;
  const cover = coverAt(field, aimsOf(visible)[0]);
  return cover && !contains(cover, activeElement(document) ?? field) ? coverName(cover, field) : null;
}

/** The dialog, or the whole box that lies over the element. */
function coverName(cover: Element, element: Element): string {
  let box = cover;
  for (const ancestor of ancestorsOf(cover)) {
    if (contains(ancestor, element)) break;
    box = ancestor;
  }
  box = closest(cover, '[role="dialog"], [role="alertdialog"], dialog, [aria-modal]') ?? box;
  const text = box.getAttribute('aria-label') || textOf(box, 100) || nameOf(box);
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
