/** Login form. The token is stored until the tab is closed. */
import { ParlanceError } from '@parlance/sdk';
import { AdminPassword } from '@parlance/ui/components/admin-password.tsx';
import { Button } from '@parlance/ui/components/button.tsx';
import { Logo } from '@parlance/ui/components/logo.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { currentLocation, go, hrefOf, locationAfterLogin, useLocation } from '@parlance/ui/state/router.ts';
import { logIn, useAccess } from '@parlance/ui/state/server.ts';
import { type FormEvent, useEffect, useState } from 'react';

export function LoginPage({ expired }: { expired: boolean }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const next = locationAfterLogin(useLocation());
  const open = useAccess().status === 'in';
  useEffect(() => {
    document.title = 'Sign in · Parlance';
  }, []);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      await logIn(String(fields.get('name')), String(fields.get('password')));
      if (currentLocation().route.page === 'login') go(next.route, next.query, 'replace');
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setProblem(thrown.code === 'unauthenticated' ? 'Wrong name or password.' : thrown.message);
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="alone">
      <form className="login" onSubmit={submit}>
        <Logo />
        <h1>Sign in to Parlance</h1>
        {expired && problem === null && <Notice>You have been signed out. Sign in again.</Notice>}
        {problem !== null && <Notice variant="danger">{problem}</Notice>}
        <label className="field">
          Name
          <input
            // biome-ignore lint/a11y/noAutofocus: the page is for nothing else
            autoFocus
            name="name"
            autoComplete="username"
            required
          />
        </label>
        <label className="field">
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
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
