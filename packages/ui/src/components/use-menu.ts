/** A button that opens a menu: arrow keys, Home, End and letters move, Escape closes, and so does a press outside of it. */
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';

type Options = {
  readonly place: (menu: HTMLElement, button: DOMRect) => void;
  /** when the button moves, the menu closes, or follows it */
  readonly ifMoved: 'close' | 'follow';
};

/** The chosen item has the focus at first, or the first one. */
export function useMenu({ place, ifMoved }: Options) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const menu = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (!open || !menu.current) return;
    menu.current.showPopover();
    const all = itemsOf(menu.current);
    const first = all.find((item) => item.ariaChecked === 'true') ?? all[0];
    first?.focus({ preventScroll: true });
  }, [open]);
  useLayoutEffect(() => {
    if (!open) return;
    const follow = () => {
      const from = root.current?.querySelector('button')?.getBoundingClientRect();
      if (menu.current && from) place(menu.current, from);
    };
    follow();
    // Other parts of the page may scroll, such as an answer that grows.
    const closeIfMoved = ({ target }: Event) => {
      if (target === window || (target instanceof Node && target.contains(root.current))) setOpen(false);
    };
    const moved = ifMoved === 'follow' ? follow : closeIfMoved;
    const outside = ({ target }: PointerEvent) => {
      if (target instanceof Node && !root.current?.contains(target)) setOpen(false);
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener('resize', moved, { signal });
    addEventListener('scroll', moved, { capture: true, signal });
    addEventListener('pointerdown', outside, { signal });
    return () => stop.abort();
  }, [open, place, ifMoved]);

  function close(): void {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!open) return;
    const all = itemsOf(menu.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const typed = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey;
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') all[(at + 1) % all.length]?.focus();
    else if (event.key === 'ArrowUp') all.at(at <= 0 ? -1 : at - 1)?.focus();
    else if (event.key === 'Home') all[0]?.focus();
    else if (event.key === 'End') all.at(-1)?.focus();
    else if (typed) itemAfter(all, at, event.key)?.focus();
    else {
      if (event.key === 'Tab') setOpen(false);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  return { open, setOpen, close, root, menu, onKeyDown };
}

const itemsOf = (menu: HTMLElement | null): HTMLElement[] => [
  ...(menu?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []),
];

/** The next item that begins with the letter. */
function itemAfter(items: readonly HTMLElement[], at: number, letter: string): HTMLElement | undefined {
  const begins = (item: HTMLElement) =>
    item.textContent?.trim().toLowerCase().startsWith(letter.toLowerCase()) === true;
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(begins);
}
