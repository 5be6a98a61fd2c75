/** A browser extension that wants to be connected: compare the code, then allow or deny it. */
import type { PairingRequest } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { Icon } from '@parlance/ui/components/icon.tsx';
import { attempt, toast } from '@parlance/ui/components/toast.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';

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
