/** Moves the focus. While the side panel has the focus of the browser, pages get no focus events: then they are sent. */
import { activeElement } from '../dom/flat-tree.ts';

export function giveFocus(element: HTMLElement): void {
  const before = activeElement(document);
  const events = countedEvents(element, 'focusin', () => element.focus({ preventScroll: true }));
  if (events > 0 || before === element || activeElement(document) !== element) return;
  if (before && before !== document.body) sendFocus(before, ['blur', 'focusout'], element);
  sendFocus(element, ['focus', 'focusin'], before);
}

export function takeFocus(element: HTMLElement): void {
  const events = countedEvents(element, 'focusout', () => element.blur());
  if (events === 0) sendFocus(element, ['blur', 'focusout'], null);
}

/** How many of these events the browser itself sends. */
function countedEvents(element: HTMLElement, type: string, change: () => void): number {
  let count = 0;
  const listener = (): void => {
    count++;
  };
  const root = element.ownerDocument;
  root.addEventListener(type, listener, true);
  change();
  root.removeEventListener(type, listener, true);
  return count;
}

function sendFocus(
  target: HTMLElement,
  types: readonly [string, string],
  relatedTarget: Element | null,
): void {
  for (const [index, type] of types.entries())
    target.dispatchEvent(new FocusEvent(type, { bubbles: index === 1, composed: true, relatedTarget }));
}
