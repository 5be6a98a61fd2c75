type IdentityFieldsProps = {
  /** null: a new one, whose id is asked for */
  readonly of: { readonly name: string; readonly description?: string } | null;
};

/** The fields `name`, `id` and `description` of an agent or a domain. An id cannot be changed later. */
export function IdentityFields({ of }: IdentityFieldsProps) {
  return (
    <>
      <label className="field">
        Name
        <input name="name" required maxLength={100} defaultValue={of?.name} autoComplete="off" />
      </label>
      {of === null && (
        <label className="field">
          Id
          <input
            name="id"
            required
            maxLength={64}
            pattern="[A-Za-z0-9_\-]+"
            title="Letters, digits, - and _"
            autoComplete="off"
            spellCheck={false}
          />
        </label>
      )}
      <label className="field">
        Description
        <input name="description" maxLength={500} defaultValue={of?.description} autoComplete="off" />
      </label>
    </>
  );
}
