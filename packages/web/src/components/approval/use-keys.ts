/** Keys y, a, n, e: apply to the focused card, or to the first pending one. They work in an empty message field, too. */
import { type RefObject, useEffect, useRef } from 'react';

export type Key = 'y' | 'a' | 'n' | 'e';
const KEYS: ReadonlySet<string> = new Set<Key>(['y', 'a', 'n', 'e']);
const PENDING_CARD = '.approval[data-state="pending"]';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]')) &&
  !(target instanceof HTMLTextAreaElement && target.dataset.empty === 'true');

/** Moves the focus to the first pending card; false if there is none. */
export function focusPendingCard(): boolean {
  const card = document.querySelector<HTMLElement>(PENDING_CARD);
  card?.focus();
  return card !== null;
}

function aimedAt(): Element | null {
  const focused = document.activeElement?.closest(PENDING_CARD);
  return focused ?? document.querySelector(PENDING_CARD);
}

/** False if the card is scrolled out of view. */
function isInView(card: HTMLElement): boolean {
  const { top, bottom } = card.getBoundingClientRect();
  const area = card.closest('.transcript')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return bottom > area.top && top < area.bottom;
}

/** A card out of view is not answered but shown. Ignores key repeat, typing in fields, and keys while a dialog is open. */
export function useKeys(card: RefObject<HTMLElement | null>, onKey: (key: Key) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      const key = event.key.toLowerCase();
      if (
        event.repeat ||
        event.isComposing ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented
      )
        return;
      if (!KEYS.has(key) || isTyping(event.target) || document.querySelector('dialog[open]')) return;
      if (card.current === null || aimedAt() !== card.current) return;
      event.preventDefault();
      if (isInView(card.current)) latest.current(key as Key);
      else card.current.scrollIntoView({ block: 'end' });
    }
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [card]);
}
