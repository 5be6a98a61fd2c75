/** Moving the focus. */

import { activeElement, elementsIn } from '../dom/flat-tree.ts';
import { isControl, isDisabled, isEditingHost, isInput, isLink } from '../dom/kinds.ts';
import { isRendered } from '../dom/visibility.ts';
import { giveFocus, takeFocus } from '../events.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { reachElement, rendered, usable } from './reach.ts';

export async function focus(id: number): Promise<void> {
  const element = usable(id);
  await reachElement(element);
  giveFocus(element);
  if (activeElement(document) === element) return;
  const inner = element.querySelector<HTMLElement>('input, textarea, select, button, a[href], [tabindex]');
  if (inner) giveFocus(inner);
  if (!inner || activeElement(document) !== inner)
    throw new PageFailure('UNSUPPORTED', `${subjectOf(element)} does not take the focus.`, numberOf(element));
}

export function blur(id: number): void {
  const element = rendered(id);
  const active = activeElement(document);
  if (active && element.contains(active)) takeFocus(active);
}

/** To the next element in tab order. */
export function moveFocus(from: HTMLElement, by: 1 | -1): void {
  const stops = [...elementsIn(document.body)].filter(isTabStop);
  stops.sort((one, other) => order(one) - order(other));
  const at = stops.indexOf(from);
  const next = at === -1 ? (by === 1 ? 0 : stops.length - 1) : (at + by + stops.length) % stops.length;
  const stop = stops[next];
  if (stop) giveFocus(stop);
  stop?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
}

/** A positive `tabindex` comes first. */
const order = ({ tabIndex }: HTMLElement): number => (tabIndex > 0 ? tabIndex : Number.MAX_SAFE_INTEGER);

const isTabStop = (element: HTMLElement): boolean =>
  element.tabIndex >= 0 &&
  (isControl(element) ||
    isLink(element) ||
    isEditingHost(element) ||
    element.hasAttribute('tabindex') ||
    element.localName === 'summary') &&
  !(isInput(element) && (element.type === 'hidden' || isOtherRadio(element))) &&
  !isDisabled(element) &&
  isRendered(element);

/** Of a group of radio buttons only the checked one is a stop. */
function isOtherRadio(element: HTMLInputElement): boolean {
  if (element.type !== 'radio' || element.checked || element.name === '') return false;
  const root = element.form ?? element.ownerDocument;
  return [...root.querySelectorAll<HTMLInputElement>('input[type=radio]:checked')].some(
    ({ name }) => name === element.name,
  );
}
