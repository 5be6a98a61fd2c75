import { ParlanceError } from '@parlance/sdk';
import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Notice } from '../../components/notice.tsx';

/** For dialects that need a token even in open mode. */
export function LoginForm({ logIn }: { logIn: (name: string, password: string) => Promise<void> }) {
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setProblem(null);
    try {
      await logIn(String(fields.get('name')), String(fields.get('password')));
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setProblem(thrown.message);
      setBusy(false);
    }
  }

  return (
    <form className="playground-login" onSubmit={submit} aria-label="Sign in for the playground">
      <p className="hint">
        This dialect needs a token, even in open mode. After login, both panes connect as that user; the token
        is not stored. The server’s first start printed the password of <code>admin</code>.
      </p>
      {problem !== null && <Notice variant="danger">{problem}</Notice>}
      <div className="playground-login-fields">
        <label className="field">
          Name
          <input name="name" autoComplete="username" required />
        </label>
        <label className="field">
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <Button type="submit" variant="primary" disabled={busy}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
