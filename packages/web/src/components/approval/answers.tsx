/** Buttons for the answers to an approval, each with its key. */
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { Button } from '../button.tsx';
import type { Key } from './use-keys.ts';

type AnswersProps = {
  readonly disabled: boolean;
  readonly explaining: boolean;
  /** "always" is offered */
  readonly always: boolean;
  readonly onKey: (key: Key) => void;
};

export function Answers({ disabled, explaining, always, onKey }: AnswersProps) {
  return (
    <div className="approval-answers">
      <Button variant="primary" disabled={disabled} aria-keyshortcuts="y" onClick={() => onKey('y')}>
        Allow once <Hint letter="y" />
      </Button>
      {always && (
        <Button disabled={disabled} aria-keyshortcuts="a" onClick={() => onKey('a')}>
          Always <Hint letter="a" />
        </Button>
      )}
      <Button variant="danger" disabled={disabled} aria-keyshortcuts="n" onClick={() => onKey('n')}>
        Deny … <Hint letter="n" />
      </Button>
      <Button
        variant="quiet"
        disabled={disabled || explaining}
        aria-keyshortcuts="e"
        onClick={() => onKey('e')}
      >
        Explain <Hint letter="e" />
      </Button>
    </div>
  );
}

/** Visible hint only; `aria-keyshortcuts` covers screen readers. */
const Hint = ({ letter }: { letter: Key }) => (
  <span className="key" aria-hidden="true">
    {letter}
  </span>
);

type DenyProps = { readonly onDeny: (reason: string) => void; readonly onClose: () => void };

/** The reason is passed to the model. */
export function DenyForm({ onDeny, onClose }: DenyProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    onDeny(String(new FormData(event.currentTarget).get('reason')).trim());
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose();
  }

  return (
    <form className="approval-deny" onSubmit={submit}>
      <label className="field">
        Reason (optional, shared with the agent)
        <input ref={field} name="reason" maxLength={2_000} autoComplete="off" onKeyDown={onKeyDown} />
      </label>
      <div className="approval-answers">
        <Button type="submit" variant="danger">
          Deny
        </Button>
        <Button variant="quiet" onClick={onClose}>
          Back
        </Button>
      </div>
    </form>
  );
}
