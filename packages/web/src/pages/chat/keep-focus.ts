/** Keeps the focus in the chat when the control that had it disappears. */
import { type RefObject, useEffect } from 'react';
import { focusPendingCard } from '../../components/approval/use-keys.ts';

/** On a phone, focusing a field opens the keyboard, so the reader does it. */
export const hasKeyboard = (): boolean => matchMedia('(hover: hover)').matches;

/**
 * Moves the focus to the next approval or to the message field when a button is removed together with its row, such as
 * that of an answered approval or of a turn that is regenerated.
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
      if (!focusPendingCard()) field.current?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', onFocus);
    removed.observe(document.getElementById('main') ?? document.body, { subtree: true, childList: true });
    return () => {
      document.removeEventListener('focusin', onFocus);
      removed.disconnect();
    };
  }, [field]);
}
