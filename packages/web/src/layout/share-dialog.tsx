/** Links that show a session to people without an account. */
import { ParlanceError, type Share } from '@parlance/sdk';
import { Button } from '@parlance/ui/components/button.tsx';
import { CopyButton } from '@parlance/ui/components/copy-button.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';
import type { DialogSession } from './session-dialog.tsx';

export function ShareDialog({ session, onClose }: { session: DialogSession; onClose: () => void }) {
  const handle = parlance.session(session.id);
  const [shares, setShares] = useState<readonly Share[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  /** The server does not keep links: this one is shown until the dialog is closed. */
  const [link, setLink] = useState<{ readonly id: string; readonly address: string } | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    parlance
      .session(session.id)
      .shares({ signal: stop.signal })
      .then(setShares, (thrown) => {
        if (stop.signal.aborted) return;
        if (!(thrown instanceof ParlanceError)) throw thrown;
        setProblem(thrown.message);
      });
    return () => stop.abort();
  }, [session.id]);

  /** Errors are shown here: a toast would be behind the dialog. */
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      setProblem(null);
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setProblem(thrown.message);
    }
  }

  const create = () =>
    attempt(async () => {
      const { path, ...share } = await handle.share();
      setLink({ id: share.id, address: `${location.origin}${path}` });
      setShares((before) => [...(before ?? []), share]);
    });
  const revoke = (id: string) =>
    attempt(async () => {
      await handle.unshare(id);
      setShares((before) => before?.filter((share) => share.id !== id) ?? null);
      setLink((before) => (before?.id === id ? null : before));
    });

  return (
    <Dialog title="Share session" confirm="Done" plain onClose={onClose} onConfirm={() => undefined}>
      <p>
        Anyone with the link can read the messages so far, without signing in. Later messages, and the input
        and output of tools, are not included.
      </p>
      {problem && <Notice variant="danger">{problem}</Notice>}
      {link ? (
        <div className="share-link">
          <input readOnly aria-label="Link" value={link.address} onFocus={(event) => event.target.select()} />
          <CopyButton text={link.address} label="Copy link" />
        </div>
      ) : (
        <Button icon="link" disabled={shares === null} onClick={() => void create()}>
          Create link
        </Button>
      )}
      {shares && shares.length > 0 && (
        <ul className="share-list" aria-label="Links">
          {shares.map(({ id, createdAt }) => (
            <li key={id}>
              <span>Created {new Date(createdAt).toLocaleString()}</span>
              <Button variant="danger" onClick={() => void revoke(id)}>
                Revoke
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
