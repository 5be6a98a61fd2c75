/** A field for a password that is to be set. */
export function NewPassword({ label, name }: { readonly label: string; readonly name: string }) {
  return (
    <label className="field">
      {label}
      <input
        name={name}
        type="password"
        required
        minLength={8}
        maxLength={1_000}
        autoComplete="new-password"
      />
    </label>
  );
}
