/** Login form. */

import { Button, Field, Notice, useAttempt } from '@parlance/ui/components/controls.tsx';
import { AdminPassword } from '@parlance/ui/components/no-access.tsx';
import { currentLocation, go, hrefOf, locationAfterLogin, useLocation } from '@parlance/ui/state/router.ts';
import { logIn, useAccess } from '@parlance/ui/state/server.ts';
import { type FormEvent, useEffect } from 'react';
import { Logo } from '../../components/page.tsx';

export function LoginPage({ expired }: { expired: boolean }) {
  const { busy, problem, run } = useAttempt(({ code, message }) =>
    code === 'unauthenticated' ? 'Wrong name or password.' : message,
  );
  const next = locationAfterLogin(useLocation());
  const open = useAccess().status === 'in';
  useEffect(() => {
    document.title = 'Sign in · Parlance';
  }, []);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(async () => {
      await logIn(String(fields.get('name')), String(fields.get('password')));
      if (currentLocation().route.page === 'login') go(next.route, next.query, 'replace');
    });
  }

  return (
    <main className="alone">
      <form className="login" onSubmit={submit}>
        <Logo />
        <h1>Sign in to Parlance</h1>
        {expired && problem === null && <Notice>You have been signed out. Sign in again.</Notice>}
        {problem !== null && <Notice variant="danger">{problem}</Notice>}
        <Field label="Name" autoFocus name="name" autoComplete="username" required />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button variant="primary" type="submit" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </Button>
        {open && <a href={hrefOf(next.route, next.query)}>Continue without signing in</a>}
        <p className="hint">
          {!open && 'Ask your administrator for an account. '}
          <AdminPassword />
        </p>
      </form>
    </main>
  );
}
