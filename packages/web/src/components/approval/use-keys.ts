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

/** Ignores key repeat, typing in fields, and keys while a dialog is open. */
function keyOf(event: KeyboardEvent): Key | null {
  const { repeat, isComposing, ctrlKey, metaKey, altKey, defaultPrevented, target } = event;
  if (repeat || isComposing || ctrlKey || metaKey || altKey || defaultPrevented) return null;
  const key = event.key.toLowerCase();
  if (!KEYS.has(key) || isTyping(target) || document.querySelector('dialog[open]')) return null;
  return key as Key;
}

function useKeydown(onKeydown: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKeydown);
  latest.current = onKeydown;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** A card out of view is not answered but shown. */
export function useKeys(card: RefObject<HTMLElement | null>, onKey: (key: Key) => void): void {
  useKeydown((event) => {
    const key = keyOf(event);
    if (key === null || card.current === null || aimedAt() !== card.current) return;
    event.preventDefault();
    if (isInView(card.current)) onKey(key);
    else card.current.scrollIntoView({ block: 'end' });
  });
}

/** For a card that is so far out of view that it is not in the document: a key calls `show`, which scrolls to it. */
export function useDistantCard(isPending: boolean, show: () => void): void {
  useKeydown((event) => {
    if (!isPending || keyOf(event) === null || document.querySelector(PENDING_CARD)) return;
    event.preventDefault();
    show();
  });
}
