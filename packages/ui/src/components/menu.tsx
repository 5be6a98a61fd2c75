/** Menu button. The menu is in the top layer: the button may be in a list that scrolls. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon, IconButton, type IconName } from './controls.tsx';
import { moveInMenu } from './menu-keys.ts';

export type MenuItem = {
  readonly label: string;
  readonly icon: IconName;
  readonly danger?: boolean;
  readonly onSelect: () => void;
};

type MenuProps = {
  readonly label: string;
  /** called when the menu opens: long lists have many menus */
  readonly items: () => readonly MenuItem[];
};

export function Menu({ label, items }: MenuProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const list = useId();

  useLayoutEffect(() => {
    const button = root.current?.querySelector('button');
    if (!open || !menu.current || !button) return;
    menu.current.showPopover();
    place(menu.current, button.getBoundingClientRect());
    menu.current.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true });
  }, [open]);
  useEffect(() => {
    if (!open) return;
    // Other parts of the page may scroll, such as an answer that grows.
    const moved = ({ target }: Event) => {
      if (target === window || (target instanceof Node && target.contains(root.current))) setOpen(false);
    };
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener('pointerdown', outside, { signal });
    addEventListener('resize', moved, { signal });
    addEventListener('scroll', moved, { capture: true, signal });
    return () => stop.abort();
  }, [open]);

  function close(): void {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the menu as a whole
    <div
      className="menu"
      ref={root}
      onKeyDown={(event) => open && moveInMenu(event, { onEscape: close, onTab: () => setOpen(false) })}
    >
      <IconButton
        icon="more"
        label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <div className="menu-list" role="menu" id={list} aria-label={label} popover="manual" ref={menu}>
          {items().map((item) => (
            <button
              type="button"
              role="menuitem"
              key={item.label}
              tabIndex={-1}
              className={item.danger ? 'danger' : ''}
              onClick={() => {
                close();
                item.onSelect();
              }}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Distance from the button and from the edges of the window. */
const GAP_PX = 4;

/** Below the button, or above it if there is no room. */
function place(menu: HTMLElement, button: DOMRect): void {
  const { height } = menu.getBoundingClientRect();
  const below = button.bottom + GAP_PX;
  const top = below + height + GAP_PX <= innerHeight ? below : button.top - GAP_PX - height;
  menu.style.top = `${Math.max(GAP_PX, top)}px`;
  menu.style.right = `${document.documentElement.clientWidth - button.right}px`;
}
