/** Buttons for the answers to an approval, each with its key. */
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import type { Key } from './use-keys.ts';

type AnswersProps = {
  readonly disabled: boolean;
  readonly explaining: boolean;
  /** "always" is offered */
  readonly always: boolean;
  /** the key that answers in a moment */
  readonly held: Key | null;
  readonly onKey: (key: Key) => void;
};

export const ANSWERS: Readonly<Record<Key, string>> = {
  y: 'Allow once',
  a: 'Always',
  n: 'Deny …',
  e: 'Explain',
};

export function Answers({ disabled, explaining, always, held, onKey }: AnswersProps) {
  const button = (key: Key) => ({
    disabled,
    'aria-keyshortcuts': key,
    'data-held': held === key || undefined,
    onClick: () => onKey(key),
  });
  return (
    <div className="approval-answers">
      <Button variant="primary" {...button('y')}>
        {ANSWERS.y} <Hint letter="y" />
      </Button>
      {always && (
        <Button {...button('a')}>
          {ANSWERS.a} <Hint letter="a" />
        </Button>
      )}
      <Button variant="danger" {...button('n')}>
        {ANSWERS.n} <Hint letter="n" />
      </Button>
      <Button variant="quiet" {...button('e')} disabled={disabled || explaining}>
        {ANSWERS.e} <Hint letter="e" />
      </Button>
    </div>
  );
}

/** Shown while a key waits for what follows it. */
export const HeldHint = ({ answer }: { answer: string }) => (
  <p className="hint" role="status">
    “{answer}” is chosen: Enter confirms it now, Escape takes it back.
  </p>
);

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
  const [before] = useState(() => document.activeElement);
  useEffect(() => field.current?.focus(), []);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    onDeny(String(new FormData(event.currentTarget).get('reason')).trim());
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  }
  /** Someone who was writing a message continues there; a key in the card answers at once. */
  function close(): void {
    const card = field.current?.closest<HTMLElement>('.approval');
    (before instanceof HTMLTextAreaElement ? before : card)?.focus();
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
        <Button variant="quiet" onClick={close}>
          Back
        </Button>
      </div>
    </form>
  );
}
