/** The caller's browser extensions. */
import type { Pairing } from '@parlance/sdk';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { attempt, toast } from '../../components/toast.tsx';
import { hrefOf } from '../../router.ts';
import { useShownFault } from '../../state/activity.ts';
import { parlance } from '../../state/server.ts';
import { usePolled } from '../../state/use-polled.ts';

const list = () => parlance.pairings.list();

export function Extensions() {
  const { value, again, ...polled } = usePolled(list);
  const fault = useShownFault(polled.fault);
  const [asking, setAsking] = useState<Pairing | null>(null);

  async function revoke({ id, name }: Pairing): Promise<void> {
    if (!(await attempt(() => parlance.pairings.revoke(id)))) return;
    toast(`${name} was disconnected.`);
    again();
  }

  return (
    <section aria-labelledby="settings-extensions">
      <h2 id="settings-extensions">Browser extensions</h2>
      <p className="hint">
        A connected extension acts as you. Install it, open its side panel and confirm the code it shows.
      </p>
      {fault && <Notice variant="danger">{fault.message}</Notice>}
      {value && value.pairings.length > 0 && (
        <ul className="admin-list" aria-label="Browser extensions">
          {value.pairings.map((pairing) => (
            <li className="card" key={pairing.id}>
              <div className="admin-what">
                <strong>{pairing.name}</strong>
                <p className="hint">
                  connected {new Date(pairing.allowedAt).toLocaleDateString()}
                  {pairing.key !== null && (
                    <>
                      {' '}
                      with the API key <code>plk_{pairing.key}…</code>
                    </>
                  )}
                  {pairing.expiresAt !== null && ` until ${new Date(pairing.expiresAt).toLocaleDateString()}`}{' '}
                  ·{' '}
                  {pairing.lastUsedAt === null
                    ? 'never used'
                    : `last used ${new Date(pairing.lastUsedAt).toLocaleString()}`}{' '}
                  · {pairing.origin}
                </p>
              </div>
              <Button aria-label={`Disconnect ${pairing.name}`} onClick={() => setAsking(pairing)}>
                Disconnect
              </Button>
            </li>
          ))}
        </ul>
      )}
      <a className="button" href={hrefOf({ page: 'pair' })}>
        Enter a code
      </a>
      {asking && (
        <Dialog
          title={`Disconnect ${asking.name}?`}
          confirm="Disconnect"
          danger
          onClose={() => setAsking(null)}
          onConfirm={() => void revoke(asking)}
        >
          <p>The extension is disconnected immediately, and its tasks stop. You can connect it again.</p>
        </Dialog>
      )}
    </section>
  );
}
