/** Chooses one of a few options that need a line of explanation each: a button that opens a menu. */
import { useEffect, useId } from 'react';
import { Icon, type IconName } from './controls.tsx';
import { placeBeside } from './place-beside.ts';
import { useMenu } from './use-menu.ts';

export type PickerOption = {
  readonly id: string;
  readonly name: string;
  readonly about?: string;
};

export type OptionGroup = { readonly label: string; readonly options: readonly PickerOption[] };

type OptionPickerProps = {
  readonly label: string;
  readonly icon: IconName;
  /** id of the chosen option */
  readonly value: string;
  /** what the button shows */
  readonly shown: string;
  /** Headings are shown if there are several. */
  readonly groups: readonly OptionGroup[];
  /** shown with a warning */
  readonly isRisky?: boolean;
  readonly onChoose: (id: string) => void;
};

export function OptionPicker(props: OptionPickerProps) {
  const { label, icon, value, shown, groups, isRisky = false, onChoose } = props;
  const { open, setOpen, close, root, menu, onKeyDown } = useMenu({ place: placeBeside, ifMoved: 'follow' });
  const list = useId();

  // The options may change while the menu is open.
  useEffect(() => {
    if (groups.length === 0) setOpen(false);
  }, [groups, setOpen]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys belong to the menu as a whole
    <div className="option-picker" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        className="picker model-button"
        aria-label={`${label}: ${shown}`}
        title={label}
        data-risky={isRisky || undefined}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
        <span className="picker-label">{`${label}: `}</span>
        <span className="picker-value">{shown}</span>
        <Icon name="chevron" />
      </button>
      {open && (
        <div
          className="menu-list option-list"
          role="menu"
          id={list}
          aria-label={label}
          popover="manual"
          ref={menu}
        >
          {groups.map((group, index) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a menu
            <div key={group.label} role="group" aria-label={group.label} className="option-group">
              {groups.length > 1 && (
                <p id={`${list}-${index}`} aria-hidden="true">
                  {group.label}
                </p>
              )}
              {group.options.map(({ id, name, about }) => (
                <button
                  type="button"
                  role="menuitemradio"
                  aria-checked={id === value}
                  key={id}
                  tabIndex={-1}
                  onClick={() => {
                    close();
                    if (id !== value) onChoose(id);
                  }}
                >
                  <span className="option-name">
                    {name}
                    {about && <small>{about}</small>}
                  </span>
                  {id === value && <Icon name="check" />}
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
