import { useId } from 'react';
import { Chip } from '../../components/chip.tsx';
import { CHOICES, type Choice } from './vendors.ts';

type ProviderChoiceProps = {
  readonly offered: readonly Choice[];
  /** null: none yet */
  readonly chosen: Choice | null;
  readonly inUse: Choice;
  readonly disabled: boolean;
  readonly onChoose: (choice: Choice) => void;
};

/** The providers as radio buttons, with what each of them needs. */
export function ProviderChoice({ offered, chosen, inUse, disabled, onChoose }: ProviderChoiceProps) {
  const id = useId();
  return (
    <fieldset className="provider-choices" disabled={disabled}>
      <legend>Provider</legend>
      {offered.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name={id}
            checked={name === chosen}
            aria-labelledby={`${id}-${name}`}
            aria-describedby={`${id}-${name}-hint`}
            onChange={() => onChoose(name)}
          />
          <span>
            <strong id={`${id}-${name}`}>{CHOICES[name].label}</strong>
            <span className="hint" id={`${id}-${name}-hint`}>
              {CHOICES[name].hint}
            </span>
          </span>
          {name === inUse && <Chip variant="good">in use</Chip>}
        </label>
      ))}
    </fieldset>
  );
}
