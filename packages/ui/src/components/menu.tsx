/** Menu button. The menu is in the top layer: the button may be in a list that scrolls. */
import { useId } from 'react';
import { Icon, IconButton, type IconName } from './controls.tsx';
import { useMenu } from './use-menu.ts';

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
  const { open, setOpen, close, root, menu, onKeyDown } = useMenu({ place, ifMoved: 'close' });
  const list = useId();

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
