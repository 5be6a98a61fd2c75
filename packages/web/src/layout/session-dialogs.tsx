/** What the menu of a session asks before it acts. */

import { ParlanceError, type Share } from '@parlance/sdk';
import { attempt, Button, CopyButton, download, Field, Notice } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { currentLocation, go } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { useEffect, useState } from 'react';
import type { DialogSession } from './session-menu.tsx';

type DialogProps = { readonly session: DialogSession; readonly onClose: () => void };

export function RenameDialog({ session, onClose }: DialogProps) {
  return (
    <Dialog
      title="Rename session"
      confirm="Rename"
      onClose={onClose}
      onConfirm={(fields) => parlance.session(session.id).rename(String(fields.get('title')))}
    >
      <Field label="Title" name="title" defaultValue={session.title} required maxLength={500} />
    </Dialog>
  );
}

export function TagsDialog({ session, onClose }: DialogProps) {
  return (
    <Dialog
      title="Tags"
      confirm="Save"
      onClose={onClose}
      onConfirm={(fields) => parlance.session(session.id).tag(tagsIn(String(fields.get('tags'))))}
    >
      <Field
        label="Tags, separated by commas"
        name="tags"
        defaultValue={session.tags?.join(', ')}
        maxLength={1_000}
      />
    </Dialog>
  );
}

const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

const FORMATS = [
  { format: 'markdown', ending: 'md', label: 'Markdown', about: 'for reading and pasting' },
  { format: 'html', ending: 'html', label: 'HTML', about: 'a page to open in a browser' },
  { format: 'jsonl', ending: 'jsonl', label: 'JSONL', about: 'every event, for parlance import' },
] as const;

export function ExportDialog({ session: { id, title }, onClose }: DialogProps) {
  const [format, setFormat] = useState<(typeof FORMATS)[number]>(FORMATS[0]);
  async function save(): Promise<void> {
    const response = await parlance.session(id).export({ format: format.format });
    download(`${title || id}.${format.ending}`, await response.blob());
  }
  return (
    <Dialog title="Export session" confirm="Export" onClose={onClose} onConfirm={() => void attempt(save)}>
      <fieldset className="formats">
        <legend className="unseen">Format</legend>
        {FORMATS.map((one) => (
          <label key={one.format}>
            <input
              type="radio"
              name="format"
              checked={one.format === format.format}
              onChange={() => setFormat(one)}
            />
            <span>
              {one.label} <small>{one.about}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}

export function EraseDialog({ session: { id, title }, onClose }: DialogProps) {
  async function erase(): Promise<void> {
    const { route } = currentLocation();
    const done = await attempt(() => parlance.session(id).erase());
    if (done && route.page === 'session' && route.id === id) go({ page: 'new' }, undefined, 'replace');
  }
  return (
    <Dialog title="Delete session?" confirm="Delete" danger onClose={onClose} onConfirm={() => void erase()}>
      <p>
        “{title || 'Untitled'}” and its history will be permanently deleted for every client. Export it first
        to keep a copy.
      </p>
    </Dialog>
  );
}

// Links that show a session to people without an account.

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
