import { Fragment, useEffect } from 'react';
import { Icon } from '../icon.tsx';
import type { ModelGroup, ModelOption } from './options.ts';

type ModelListProps = {
  readonly id: string;
  readonly groups: readonly ModelGroup[];
  /** index of the active option over all groups */
  readonly at: number;
  readonly chosen: string | null;
  readonly onChoose: (model: string | null) => void;
};

/** Options by provider. The field of the panel has the focus. */
export function ModelList({ id, groups, at, chosen, onChoose }: ModelListProps) {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);
  let index = 0;
  const option = ({ value, label }: ModelOption) => {
    const own = index++;
    return (
      <button
        type="button"
        role="option"
        key={value ?? ''}
        id={`${id}-${own}`}
        tabIndex={-1}
        className="model-option"
        aria-selected={value === chosen}
        data-active={own === at || undefined}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onChoose(value)}
      >
        <span>{label}</span>
        {value === chosen && <Icon name="check" />}
      </button>
    );
  };
  return (
    <div className="model-list" role="listbox" id={id} aria-label="Models" tabIndex={-1}>
      {groups.map(({ label, options }) =>
        label === '' ? (
          <Fragment key={label}>{options.map(option)}</Fragment>
        ) : (
          <fieldset key={label} aria-label={label}>
            <div className="model-group" aria-hidden="true">
              {label}
            </div>
            {options.map(option)}
          </fieldset>
        ),
      )}
    </div>
  );
}
