/** Connects a browser extension by its code. `?code=` is what the extension shows. */

import type { PairingRequest } from '@parlance/sdk';
import {
  attempt,
  Button,
  Empty,
  Field,
  Icon,
  Notice,
  toast,
  useAttempt,
} from '@parlance/ui/components/controls.tsx';
import { hrefOf, useLocation } from '@parlance/ui/state/router.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { type FormEvent, useEffect, useState } from 'react';
import { Page } from '../../components/page.tsx';

type PairState =
  | { readonly status: 'dialog' }
  | { readonly status: 'found'; readonly request: PairingRequest }
  | { readonly status: 'answered'; readonly allowed: boolean };

export function PairPage() {
  const given = useLocation().query.code ?? '';
  const [code, setCode] = useState(given);
  const [shown, setShown] = useState<PairState>({ status: 'dialog' });
  const { problem, run } = useAttempt();

  async function find(wanted: string): Promise<void> {
    const isFound = await run(async () =>
      setShown({ status: 'found', request: await parlance.pairings.find(wanted) }),
    );
    if (!isFound) setShown({ status: 'dialog' });
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each code of the address
  useEffect(() => {
    if (given !== '') void find(given);
  }, [given]);

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
          <Field
            label="Code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoCapitalize="characters"
            spellCheck={false}
            maxLength={20}
            required
          />
          {problem !== null && <Notice variant="danger">{problem}</Notice>}
          <Button type="submit" variant="primary">
            Continue
          </Button>
        </form>
      )}
    </Page>
  );
}

// A browser extension that wants to be connected: compare the code, then allow or deny it.

type RequestProps = {
  readonly request: PairingRequest;
  /** It was answered, here or elsewhere. */
  readonly onDone: (allowed: boolean) => void;
};

export function RequestCard({ request, onDone }: RequestProps) {
  const { code, name, origin } = request;
  const { principal } = useServer();
  const [busy, setBusy] = useState(false);

  async function answer(allow: boolean): Promise<void> {
    setBusy(true);
    const done = await attempt(() => (allow ? parlance.pairings.allow(code) : parlance.pairings.deny(code)));
    setBusy(false);
    if (!done) return;
    toast(allow ? `${name} is connected.` : `${name} was denied.`);
    onDone(allow);
  }

  return (
    <article className="card approval" aria-label={`Connect ${name}`}>
      <header className="approval-head">
        <Icon name="link" />
        <strong>Connect a browser extension?</strong>
      </header>
      <p>
        {name} wants to act as <strong>{principal.id}</strong>. Allow it only if the extension shows this
        code:
      </p>
      <p className="pair-code">{code}</p>
      <p className="hint">{origin}</p>
      <div className="pair-answers">
        <Button variant="primary" icon="check" disabled={busy} onClick={() => void answer(true)}>
          Allow
        </Button>
        <Button disabled={busy} onClick={() => void answer(false)}>
          Deny
        </Button>
      </div>
    </article>
  );
}
