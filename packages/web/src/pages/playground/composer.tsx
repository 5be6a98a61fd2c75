/** The frame to send: an example, edited freely and sent as it is. */
import { type KeyboardEvent, useId } from 'react';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { validityOf } from './draft.ts';
import type { Example } from './examples.ts';

type ComposerProps = {
  readonly examples: readonly Example[];
  /** only valid JSON can be sent; a socket takes any text */
  readonly needsJson: boolean;
  readonly draft: string;
  readonly canSend: boolean;
  readonly onDraft: (draft: string) => void;
  readonly onExample: (example: Example) => void;
  readonly onSend: () => void;
};

export function Composer(props: ComposerProps) {
  const { examples, needsJson, draft, canSend, onDraft, onExample, onSend } = props;
  const state = useId();
  const validity = validityOf(draft);
  const possible = canSend && draft !== '' && (validity.valid || !needsJson);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (possible) onSend();
  }

  return (
    <div className="composer">
      <Choice label="Example">
        {(id) => (
          <select
            id={id}
            value=""
            onChange={({ currentTarget: { value } }) => {
              const example = examples[Number(value)];
              if (example) onExample(example);
            }}
          >
            <option value="" disabled>
              Choose an example
            </option>
            {examples.map(({ name, title }, index) => (
              <option key={`${name} ${title}`} value={index}>
                {name}: {title}
              </option>
            ))}
          </select>
        )}
      </Choice>
      <div className="playground-draft">
        <textarea
          aria-label="Frame to send"
          rows={9}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={draft}
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
        <Button look="primary" icon="send" disabled={!possible} title="Ctrl+Enter" onClick={onSend}>
          {validity.valid ? 'Send' : 'Send as is'}
        </Button>
      </div>
    </div>
  );
}
