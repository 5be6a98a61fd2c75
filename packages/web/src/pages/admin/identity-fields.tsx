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

const MAX_ID = 64;

/** Name, id and description of an agent or a domain. An id cannot be changed later; a new one follows the name until it is edited. */
export function IdentityFields({ fields, isNew, taken, onChange }: IdentityFieldsProps) {
  const owner = taken.find(({ id }) => id === fields.id.trim())?.name;
  const rename = (name: string) =>
    onChange(isNew && fields.id === idFor(fields.name) ? { name, id: idFor(name) } : { name });
  return (
    <>
      <label className="field">
        Name
        <input
          required
          maxLength={100}
          value={fields.name}
          autoComplete="off"
          onChange={({ target }) => rename(target.value)}
        />
      </label>
      {isNew && (
        <label className="field">
          Id
          <input
            // Called on every render: the name may have changed the id, or another admin may have added it.
            ref={(field) => {
              if (field) refuseTaken(field, owner);
            }}
            required
            maxLength={MAX_ID}
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

/** Empty if the name has neither Latin letters nor digits. */
const idFor = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_ID)
    .replace(/^-|-$/g, '');
