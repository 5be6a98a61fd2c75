/** Chooses a model: a button that opens a searchable list. Any other name can be entered, too. */
import { useRef, useState } from 'react';
import { Icon } from '../icon.tsx';
import { ModelPanel } from './panel.tsx';

type ModelPickerProps = {
  /** null: the default */
  readonly value: string | null;
  /** name of the default model */
  readonly fallback: string;
  /** looks like the fields of a form */
  readonly field?: boolean;
  readonly onChoose: (model: string | null) => void;
};

export function ModelPicker({ value, fallback, field = false, onChoose }: ModelPickerProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const shown = value ?? `${fallback} (default)`;

  function close(): void {
    setOpen(false);
    button.current?.focus();
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={`model-button ${field ? 'model-field' : 'picker'}`}
        aria-label={`Model: ${shown}`}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span>{shown}</span>
        <Icon name="chevron" />
      </button>
      {open && (
        <ModelPanel
          button={button}
          value={value}
          fallback={fallback}
          onLeave={() => setOpen(false)}
          onClose={close}
          onChoose={(model) => {
            close();
            if (model !== value) onChoose(model);
          }}
        />
      )}
    </>
  );
}
