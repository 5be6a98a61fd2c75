/** The current user: password, and signing out everywhere. */
import { attempt, Button, Chip, Field, Notice, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { changePassword, logOutEverywhere, useServer } from '@parlance/ui/state/server.ts';
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
      <SignOutEverywhere />
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
      await changePassword(name, text('old'), text('new'));
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
        This signs you out everywhere else: other browsers, and clients that use one of your tokens. API keys
        stay valid.
      </p>
      <div>
        <Button type="submit" variant="primary">
          Change password
        </Button>
      </div>
    </form>
  );
}

function SignOutEverywhere() {
  const [asked, setAsked] = useState(false);
  return (
    <div className="card admin-form">
      <h3>Sign out everywhere</h3>
      <p className="hint">
        You stay signed in in this browser until you sign out, or have not used it for 30 days. After the loss
        of a device, end all sign-ins and tokens at once.
      </p>
      <div>
        <Button variant="danger" onClick={() => setAsked(true)}>
          Sign out everywhere
        </Button>
      </div>
      {asked && (
        <Dialog
          title="Sign out everywhere?"
          confirm="Sign out"
          danger
          onClose={() => setAsked(false)}
          onConfirm={logOutEverywhere}
        >
          <p>
            All browsers, this one included, and all clients with one of your tokens have to sign in again.
            API keys stay valid, and running turns continue.
          </p>
        </Dialog>
      )}
    </div>
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
