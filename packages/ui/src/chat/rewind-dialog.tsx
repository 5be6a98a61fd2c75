/** Rewinds to before a message, or undoes a rewind: shows what that does before it is done. */
import { ParlanceError, type RewindPreview } from '@parlance/sdk';
import { useEffect, useState } from 'react';
import { PatchView } from '../components/approval/patch-view.tsx';
import { Chip, Notice } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { parlance } from '../state/server.ts';

type RewindProps = {
  readonly session: string;
  readonly target: { readonly to: string } | { readonly undo: string };
  readonly onClose: () => void;
};

type File = RewindPreview['files'][number];

const CHANGES = { added: 'Created again', modified: 'Restored', deleted: 'Deleted' } as const;

export function RewindDialog({ session, target, onClose }: RewindProps) {
  const [preview, setPreview] = useState<RewindPreview | string | null>(null);
  const [{ to, undo }] = useState<{ readonly to?: string; readonly undo?: string }>(target);
  useEffect(() => {
    const closed = new AbortController();
    parlance
      .session(session)
      .previewRewind({ to, undo, signal: closed.signal })
      .then(setPreview, (thrown) => {
        if (closed.signal.aborted) return;
        if (!(thrown instanceof ParlanceError)) throw thrown;
        setPreview(thrown.message);
      });
    return () => closed.abort();
  }, [session, to, undo]);
  const isKnown = preview !== null && typeof preview !== 'string';
  const hasFiles = isKnown && preview.files.length > 0;
  const isEmpty = isKnown && !hasFiles && !preview.conversation;

  async function onConfirm(fields: FormData): Promise<void> {
    if (!isKnown || isEmpty) return;
    const conversation = fields.has('conversation');
    const files = fields.has('files');
    if (!conversation && !files) return;
    const overwrite = fields.getAll('overwrite').map(String);
    await parlance.session(session).rewind({ to, undo, conversation, files, overwrite });
  }

  return (
    <Dialog
      title={undo === undefined ? 'Rewind to before this message?' : 'Undo this rewind?'}
      confirm={isKnown && !isEmpty ? (undo === undefined ? 'Rewind' : 'Undo the rewind') : 'Close'}
      plain={!isKnown || isEmpty}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {preview === null && <p role="status">Comparing files …</p>}
      {typeof preview === 'string' && <Notice variant="danger">{preview}</Notice>}
      {isEmpty && <p>There is nothing to {undo === undefined ? 'rewind' : 'undo'}.</p>}
      {isKnown && !isEmpty && (
        <>
          <fieldset className="rewind-what">
            <legend>What</legend>
            {preview.conversation && (
              <label>
                <input type="checkbox" name="conversation" defaultChecked /> Conversation
              </label>
            )}
            {(hasFiles || preview.unprotected.length > 0) && (
              <label>
                <input type="checkbox" name="files" defaultChecked /> Files
              </label>
            )}
          </fieldset>
          {preview.unprotected.length > 0 && (
            <Notice>Some calls ran without a checkpoint: {preview.unprotected.join('; ')}.</Notice>
          )}
          {hasFiles && (
            <ul className="rewind-files" aria-label="Files">
              {preview.files.map((file) => (
                <FileRow key={file.path} file={file} />
              ))}
            </ul>
          )}
          {preview.more > 0 && <p>{preview.more} more files are not listed.</p>}
        </>
      )}
    </Dialog>
  );
}

function FileRow({ file: { path, change, kept, canOverwrite = false, patch } }: { file: File }) {
  const label = (
    <>
      <code>{path}</code>{' '}
      {kept === undefined ? <Chip>{CHANGES[change]}</Chip> : <Chip variant="waiting">Kept</Chip>}
    </>
  );
  return (
    <li>
      {patch === undefined ? (
        label
      ) : (
        <details>
          <summary>{label}</summary>
          <PatchView patch={patch} />
        </details>
      )}
      {kept !== undefined && <p className="hint">Kept: {kept}.</p>}
      {canOverwrite && (
        <label>
          <input type="checkbox" name="overwrite" value={path} /> Restore <code>{path}</code> nevertheless
        </label>
      )}
    </li>
  );
}
