/** Keeps the focus in the chat when the control that had it disappears. */
import { type RefObject, useEffect } from 'react';

/** On a phone, focusing a field opens the keyboard, so the reader does it. */
export const hasKeyboard = (): boolean => matchMedia('(hover: hover)').matches;

/**
 * Moves the focus to the message field when a button is removed together with its row, such as that of an answered approval
 * or of a turn that is regenerated. Not to the next approval: what is typed then could be meant for the field.
 */
export function useKeptFocus(field: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: EventTarget | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      last = target;
    };
    const removed = new MutationObserver(() => {
      if (!(last instanceof HTMLElement) || last.isConnected) return;
      last = null;
      if (document.activeElement !== document.body || !hasKeyboard()) return;
      field.current?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', onFocus);
    removed.observe(document.getElementById('main') ?? document.body, { subtree: true, childList: true });
    return () => {
      document.removeEventListener('focusin', onFocus);
      removed.disconnect();
    };
  }, [field]);
}
