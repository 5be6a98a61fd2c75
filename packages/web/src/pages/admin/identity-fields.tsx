import { refuseTaken } from './taken.ts';

type Identity = { readonly id: string; readonly name: string; readonly description: string };

type IdentityFieldsProps = {
  readonly fields: Identity;
  /** its id is asked for */
  readonly isNew: boolean;
  /** ids that exist */
  readonly taken: readonly { readonly id: string; readonly name: string }[];
  readonly onChange: (changed: Partial<Identity>) => void;
};

/** Name, id and description of an agent or a domain. An id cannot be changed later. */
export function IdentityFields({ fields, isNew, taken, onChange }: IdentityFieldsProps) {
  const owner = taken.find(({ id }) => id === fields.id.trim())?.name;
  return (
    <>
      <label className="field">
        Name
        <input
          required
          maxLength={100}
          value={fields.name}
          autoComplete="off"
          onChange={({ target }) => onChange({ name: target.value })}
        />
      </label>
      {isNew && (
        <label className="field">
          Id
          <input
            // Called on every render: another admin may have added one with this id.
            ref={(field) => {
              if (field) refuseTaken(field, owner);
            }}
            required
            maxLength={64}
            pattern="[A-Za-z0-9_\-]+"
            title="Letters, digits, - and _"
            value={fields.id}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange({ id: target.value })}
          />
        </label>
      )}
      <label className="field">
        Description
        <input
          maxLength={500}
          value={fields.description}
          autoComplete="off"
          onChange={({ target }) => onChange({ description: target.value })}
        />
      </label>
    </>
  );
}
