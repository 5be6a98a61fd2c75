/** The frame to send: an example, a saved frame or an earlier one, edited freely and sent as it is. */

import { Button } from '@parlance/ui/components/button.tsx';
import { Choice } from '@parlance/ui/components/choice.tsx';
import { copyText } from '@parlance/ui/components/copy-text.ts';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { toast } from '@parlance/ui/components/toast.tsx';
import { type KeyboardEvent, useId, useState } from 'react';
import { frameSummary } from '../../entries/frame-summary.ts';
import type { ShellCommand } from '../../entries/rows.ts';
import { validityOf } from './draft.ts';
import type { Example } from './examples.ts';
import type { StoredFrame, StoredFrames, UseStoredFramesResult } from './stored-frames.ts';

type ComposerProps = {
  readonly examples: readonly Example[];
  readonly kept: UseStoredFramesResult;
  /** only valid JSON can be sent; a socket takes any text */
  readonly needsJson: boolean;
  readonly draft: StoredFrame;
  /** the draft as a command for a terminal */
  readonly command: ShellCommand | null;
  readonly canSend: boolean;
  readonly onDraft: (draft: string) => void;
  readonly onExample: (example: Example) => void;
  readonly onKept: (frame: StoredFrame) => void;
  readonly onSend: () => void;
};

export function Composer(props: ComposerProps) {
  const { examples, kept, needsJson, draft, command, canSend, onDraft, onExample, onKept, onSend } = props;
  const state = useId();
  const [saving, setSaving] = useState(false);
  const validity = validityOf(draft.text);
  const possible = canSend && draft.text !== '' && (validity.valid || !needsJson);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (possible) onSend();
  }

  async function copy({ tool, text }: ShellCommand): Promise<void> {
    if (await copyText(text)) toast(`Copied as ${tool}.`);
  }

  return (
    <div className="composer">
      <Choice label="Insert">
        {(id) => (
          <InsertChoice id={id} examples={examples} kept={kept} onExample={onExample} onKept={onKept} />
        )}
      </Choice>
      <div className="playground-draft">
        <textarea
          aria-label="Frame to send"
          rows={9}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={draft.text}
          aria-invalid={!validity.valid}
          aria-describedby={state}
          onChange={(event) => onDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="composer-end">
        <p id={state} className={validity.valid ? 'hint' : 'playground-invalid'} role="status">
          {validity.valid ? `Valid JSON: ${validity.type}` : `Not JSON: ${validity.problem}`}
        </p>
        <Button variant="quiet" disabled={draft.text === ''} onClick={() => setSaving(true)}>
          Save …
        </Button>
        {command && (
          <Button variant="quiet" icon="copy" title={command.text} onClick={() => void copy(command)}>
            Copy as {command.tool}
          </Button>
        )}
        <Button variant="primary" icon="send" disabled={!possible} title="Ctrl+Enter" onClick={onSend}>
          {validity.valid ? 'Send' : 'Send as is'}
        </Button>
      </div>
      {saving && <SaveDialog frame={draft} kept={kept} onClose={() => setSaving(false)} />}
    </div>
  );
}

// Chooses a frame to start from: saved, sent before, or an example of the dialect.

type InsertProps = {
  readonly id: string;
  readonly examples: readonly Example[];
  readonly kept: StoredFrames;
  readonly onExample: (example: Example) => void;
  readonly onKept: (frame: StoredFrame) => void;
};

const MAX_LABEL_LENGTH = 80;

function InsertChoice({ id, examples, kept: { saved, sent }, onExample, onKept }: InsertProps) {
  function insert(value: string): void {
    const [group, index] = value.split(' ');
    const frame = (group === 'saved' ? saved : sent)[Number(index)];
    const example = examples[Number(index)];
    if (group === 'example' && example) onExample(example);
    else if (group !== 'example' && frame) onKept(frame);
  }
  return (
    <select id={id} value="" onChange={({ currentTarget }) => insert(currentTarget.value)}>
      <option value="" disabled>
        Choose a frame
      </option>
      {saved.length > 0 && (
        <optgroup label="Saved">
          {saved.map(({ name }, index) => (
            <option key={name} value={`saved ${index}`}>
              {name}
            </option>
          ))}
        </optgroup>
      )}
      {sent.length > 0 && (
        <optgroup label="History">
          {sent.map(({ text }, index) => (
            <option key={text} value={`sent ${index}`}>
              {labelOf(text)}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="Examples">
        {examples.map(({ name, title }, index) => (
          <option key={`${name} ${title}`} value={`example ${index}`}>
            {name}: {title}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

function labelOf(frame: string): string {
  const { type, text } = frameSummary(frame);
  return (text === '' ? type : `${type}: ${text}`).slice(0, MAX_LABEL_LENGTH);
}

// Saves a frame under a name; lists what is kept, to remove it.

type SaveProps = {
  readonly frame: StoredFrame;
  readonly kept: UseStoredFramesResult;
  readonly onClose: () => void;
};

function SaveDialog({ frame, kept, onClose }: SaveProps) {
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
