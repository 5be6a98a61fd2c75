/** The current user and their password. */
import { attempt, Button, Chip, Field, Notice, toast } from '@parlance/ui/components/controls.tsx';
import { changePassword, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useState } from 'react';

export function AccountSection() {
  const { principal } = useServer();
  return (
    <section className="admin-section" aria-labelledby="admin-section-title">
      <div className="admin-head">
        <h2 id="admin-section-title">Your account</h2>
      </div>
      <p>
        You are <strong>{principal.id}</strong> <Chip>{principal.role}</Chip>
      </p>
      <PasswordForm name={principal.id} />
    </section>
  );
}

function PasswordForm({ name }: { name: string }) {
  const [problem, setProblem] = useState<string | null>(null);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (field: string) => String(fields.get(field) ?? '');
    const same = text('new') === text('again');
    setProblem(same ? null : 'The passwords do not match.');
    if (!same) return;
    void attempt(async () => {
      await changePassword(text('old'), text('new'));
      toast('Password changed.');
    });
  }

  return (
    <form className="card admin-form" onSubmit={submit} aria-label="Change password">
      <h3>Change password</h3>
      {problem !== null && <Notice variant="danger">{problem}</Notice>}
      <input type="hidden" name="name" autoComplete="username" value={name} />
      <Field label="Old password" name="old" type="password" required autoComplete="current-password" />
      <NewPassword label="New password" name="new" />
      <NewPassword label="Repeat new password" name="again" />
      <p className="hint">
        This signs you out everywhere else: other tabs, and clients that use one of your tokens.
      </p>
      <div>
        <Button type="submit" variant="primary">
          Change password
        </Button>
      </div>
    </form>
  );
}

/** A field for a password that is to be set. */
export function NewPassword({ label, name }: { readonly label: string; readonly name: string }) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      required
      minLength={8}
      maxLength={1_000}
      autoComplete="new-password"
    />
  );
}
