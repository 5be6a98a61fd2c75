/** Where an invited person chooses a password. `?token=` is from the link. */
import type { Invitation } from '@parlance/sdk';
import { Button, Field, Notice, useAttempt } from '@parlance/ui/components/controls.tsx';
import { go, hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { logIn, parlance, useAccess } from '@parlance/ui/state/server.ts';
import { type FormEvent, useEffect, useState } from 'react';
import { Logo } from '../../components/page.tsx';
import { NewPassword } from '../admin/account.tsx';

export function InvitationPage() {
  const token = useLocation().query.token ?? '';
  const access = useAccess();
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const { busy, problem, setProblem, run } = useAttempt();
  useEffect(() => {
    document.title = 'Invitation · Parlance';
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each link
  useEffect(() => {
    setInvitation(null);
    if (token !== '') void run(async () => setInvitation(await parlance.invitations.find(token)));
  }, [token]);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const password = String(fields.get('new'));
    const same = password === fields.get('again');
    if (!same) setProblem('The passwords do not match.');
    else void run(() => accept(password));
  }

  async function accept(password: string): Promise<void> {
    const { name } = await parlance.invitations.accept(token, password);
    await logIn(name, password);
    go({ page: 'new' }, {}, 'replace');
  }

  return (
    <main className="alone">
      <form className="login" onSubmit={submit}>
        <Logo />
        <h1>{invitation ? `Welcome, ${invitation.name}` : 'Invitation to Parlance'}</h1>
        {problem !== null && <Notice variant="danger">{problem}</Notice>}
        {invitation && (
          <>
            <p>
              {invitation.createdBy} has invited you as <strong>{invitation.role}</strong>. Choose a password;
              you sign in with it as <strong>{invitation.name}</strong>.
            </p>
            {access.status === 'in' && access.about.principal.id !== 'local' && (
              <Notice>
                This browser is signed in as {access.about.principal.id}. It will be signed in as{' '}
                {invitation.name} instead.
              </Notice>
            )}
            <Field label="Name" name="name" autoComplete="username" readOnly value={invitation.name} />
            <NewPassword label="Password" name="new" />
            <NewPassword label="Repeat password" name="again" />
            <Button variant="primary" type="submit" disabled={busy}>
              {busy ? 'Signing in …' : 'Set password and sign in'}
            </Button>
          </>
        )}
        {!invitation && <a href={hrefOf({ page: 'new' })}>Open Parlance</a>}
      </form>
    </main>
  );
}
