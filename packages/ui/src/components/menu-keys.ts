import type { KeyboardEvent } from 'react';

type MenuKeys = {
  /** The focus goes back to the button. */
  readonly onEscape: () => void;
  /** The focus moves on. */
  readonly onTab: () => void;
};

/** Keys of an open menu, whose element or an ancestor of it has the listener: arrows, Home, End, Escape, and first letters. */
export function moveInMenu(event: KeyboardEvent<HTMLElement>, { onEscape, onTab }: MenuKeys): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')];
  const at = items.findIndex((item) => item === document.activeElement);
  const typed = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
  if (event.key === 'Escape') onEscape();
  else if (event.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
  else if (event.key === 'ArrowUp') items.at(at <= 0 ? -1 : at - 1)?.focus();
  else if (event.key === 'Home') items[0]?.focus();
  else if (event.key === 'End') items.at(-1)?.focus();
  else if (typed) itemAfter(items, at, event.key)?.focus();
  else {
    if (event.key === 'Tab') onTab();
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

/** The next item that begins with the letter. */
function itemAfter(items: readonly HTMLElement[], at: number, letter: string): HTMLElement | undefined {
  const begins = (item: HTMLElement) =>
    item.textContent?.trim().toLowerCase().startsWith(letter.toLowerCase()) === true;
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins);
}
