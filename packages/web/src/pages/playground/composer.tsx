/** The frame to send: an example, a saved frame or an earlier one, edited freely and sent as it is. */
import { type KeyboardEvent, useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { copyText } from '../../components/copy-text.ts';
import { toast } from '../../components/toast.tsx';
import type { ShellCommand } from '../../entries/rows.ts';
import { validityOf } from './draft.ts';
import type { Example } from './examples.ts';
import { InsertChoice } from './insert-choice.tsx';
import { SaveDialog } from './save-dialog.tsx';
import type { StoredFrame, UseStoredFramesResult } from './stored-frames.ts';

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
