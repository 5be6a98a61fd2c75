/** Connects a browser extension by its code. `?code=` is what the extension shows. */
import { type PairingRequest, ParlanceError } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { Page } from '../../components/page.tsx';
import { RequestCard } from './request-card.tsx';

type Shown =
  | { readonly status: 'dialog' }
  | { readonly status: 'found'; readonly request: PairingRequest }
  | { readonly status: 'answered'; readonly allowed: boolean };

export function PairPage() {
  const given = useLocation().query.code ?? '';
  const [code, setCode] = useState(given);
  const [shown, setShown] = useState<Shown>({ status: 'dialog' });
  const [problem, setProblem] = useState<string | null>(null);

  const find = useCallback(async (wanted: string): Promise<void> => {
    setProblem(null);
    try {
      setShown({ status: 'found', request: await parlance.pairings.find(wanted) });
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setShown({ status: 'dialog' });
      setProblem(thrown.message);
    }
  }, []);

  useEffect(() => {
    if (given !== '') void find(given);
  }, [given, find]);

  function submit(event: FormEvent): void {
    event.preventDefault();
    void find(code);
  }

  return (
    <Page title="Connect a browser extension">
      {shown.status === 'found' && (
        <RequestCard
          request={shown.request}
          onDone={(allowed) => setShown({ status: 'answered', allowed })}
        />
      )}
      {shown.status === 'answered' && (
        <Empty
          title={shown.allowed ? 'The extension is connected' : 'The extension was denied'}
          action={
            <a className="button" href={hrefOf({ page: 'settings' })}>
              Connected extensions
            </a>
          }
        >
          {shown.allowed
            ? 'You can close this page and continue in the side panel.'
            : 'Nothing was connected.'}
        </Empty>
      )}
      {shown.status === 'dialog' && (
        <form className="pair-form" onSubmit={submit}>
          <p>Enter the code shown in the side panel of the extension.</p>
          <label className="field">
            Code
            <input
              value={code}
              onChange={(event) => setCode(event.target.value)}
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              maxLength={20}
              required
            />
          </label>
          {problem !== null && <Notice variant="danger">{problem}</Notice>}
          <Button type="submit" variant="primary">
            Continue
          </Button>
        </form>
      )}
    </Page>
  );
}
