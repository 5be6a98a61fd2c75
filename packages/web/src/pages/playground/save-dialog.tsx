/** Saves a frame under a name; lists what is kept, to remove it. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import type { StoredFrame, UseStoredFramesResult } from './stored-frames.ts';

type SaveProps = {
  readonly frame: StoredFrame;
  readonly kept: UseStoredFramesResult;
  readonly onClose: () => void;
};

export function SaveDialog({ frame, kept, onClose }: SaveProps) {
  const { saved, sent, save, remove, clearSent } = kept;

  function confirm(fields: FormData): void {
    const name = String(fields.get('name')).trim();
    if (name === '') return;
    toast(
      save({ ...frame, name })
        ? `Saved “${name}”.`
        : 'Not saved: the frame is too long, or there are too many.',
    );
  }

  return (
    <Dialog title="Save frame" confirm="Save" onClose={onClose} onConfirm={confirm}>
      <label className="field">
        Name
        <input name="name" required maxLength={80} autoComplete="off" />
      </label>
      <p className="hint">Frames are kept in this browser. One with the same name is replaced.</p>
      {saved.length > 0 && (
        <ul className="saved-frames" aria-label="Saved frames">
          {saved.map(({ name }) => (
            <li key={name}>
              <span>{name}</span>
              <Button variant="quiet" aria-label={`Remove ${name}`} onClick={() => remove(name)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {sent.length > 0 && (
        <Button variant="quiet" onClick={clearSent}>
          Clear history ({sent.length})
        </Button>
      )}
    </Dialog>
  );
}
