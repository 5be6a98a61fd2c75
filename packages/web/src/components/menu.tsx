/** Menu button. Arrow keys move, Escape closes. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

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
  const list = useId();

  useEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);

  function close(): void {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (!open) return;
    const choices = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = choices.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') choices[(at + 1) % choices.length]?.focus();
    else if (event.key === 'ArrowUp') choices.at(at <= 0 ? -1 : at - 1)?.focus();
    else {
      if (event.key === 'Tab') setOpen(false);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the menu as a whole
    <div className="menu" ref={root} onKeyDown={onKeyDown}>
      <IconButton
        icon="more"
        label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={list}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <div className="menu-list" role="menu" id={list} aria-label={label}>
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
