/** Check boxes, radio buttons and switches. */
import { isTickedInput } from '../dom/kinds.ts';
import { isTickedRole, roleOf } from '../dom/roles.ts';
import { clickAt } from '../events/pointer.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { frames, reachElement, usable } from './reach.ts';

export async function setChecked(id: number, wanted: boolean): Promise<void> {
  const element = boxIn(usable(id));
  if (isChecked(element) === wanted) return;
  const role = roleOf(element);
  if (!wanted && (role === 'radio' || role === 'menuitemradio'))
    throw refused(element, 'cannot be unchecked: choose another one');
  const { target, at } = await reachElement(element);
  clickAt(target, { at });
  await frames(2);
  if (isChecked(element) === wanted || !element.isConnected) return;
  // Some labels stop the click: the control itself takes it then.
  element.click();
  await frames(2);
  if (isChecked(element) !== wanted) throw refused(element, `stays ${wanted ? 'unchecked' : 'checked'}`);
}

/** The element itself, or the only box inside of it. */
function boxIn(element: HTMLElement): HTMLElement {
  if (isTickedInput(element) || isTickedRole(roleOf(element)) || element.hasAttribute('aria-pressed'))
    return element;
  const boxes = element.querySelectorAll<HTMLElement>(
    'input[type=checkbox], input[type=radio], [role=checkbox], [role=switch]',
  );
  const [only] = boxes;
  if (only && boxes.length === 1) return only;
  throw refused(element, 'is not a box to tick');
}

function isChecked(element: HTMLElement): boolean {
  if (isTickedInput(element)) return element.checked;
  return (element.getAttribute('aria-checked') ?? element.getAttribute('aria-pressed')) === 'true';
}

const refused = (element: Element, why: string): PageFailure =>
  new PageFailure('NOT_CHECKABLE', `${subjectOf(element)} ${why}.`, numberOf(element));
