/** What the menu of a session asks before it acts. */

import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { download } from '@parlance/ui/components/download.ts';
import { attempt } from '@parlance/ui/components/toast.tsx';
import { currentLocation, go } from '@parlance/ui/state/router.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import type { DialogSession } from './session-dialog.tsx';

type DialogProps = { readonly session: DialogSession; readonly onClose: () => void };

export function RenameDialog({ session, onClose }: DialogProps) {
  return (
    <Dialog
      title="Rename session"
      confirm="Rename"
      onClose={onClose}
      onConfirm={(fields) => parlance.session(session.id).rename(String(fields.get('title')))}
    >
      <label className="field">
        Title
        <input name="title" defaultValue={session.title} required maxLength={500} autoComplete="off" />
      </label>
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
      <label className="field">
        Tags, separated by commas
        <input name="tags" defaultValue={session.tags?.join(', ')} maxLength={1_000} autoComplete="off" />
      </label>
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
