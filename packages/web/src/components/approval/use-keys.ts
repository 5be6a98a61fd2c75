/** y, a, n, e: for the card that has the focus, and where none has, for the first that waits. */
import { type RefObject, useEffect, useRef } from 'react';

export type Key = 'y' | 'a' | 'n' | 'e';
const KEYS: ReadonlySet<string> = new Set<Key>(['y', 'a', 'n', 'e']);
export const PENDING_CARD = '.approval[data-state="pending"]';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]'));

function aimedAt(): Element | null {
  const focused = document.activeElement?.closest(PENDING_CARD);
  return focused ?? document.querySelector(PENDING_CARD);
}

/** A key that is held down counts once; while somebody types or a dialog is open it counts for nothing. */
export function useKeys(card: RefObject<HTMLElement | null>, onKey: (key: Key) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      const key = event.key.toLowerCase();
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!KEYS.has(key) || isTyping(event.target) || document.querySelector('dialog[open]')) return;
      if (card.current === null || aimedAt() !== card.current) return;
      event.preventDefault();
      latest.current(key as Key);
    }
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [card]);
}
