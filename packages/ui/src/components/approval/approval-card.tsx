/**
 * A pending approval: what exactly would run, why approval is needed, and the answers. An answer cites the hash of what
 * is shown, so that it cannot apply to anything else. After the answer, the card shows who gave it.
 */

import type { ApprovalAnswer } from '@parlance/protocol';
import type { ApprovalView } from '@parlance/sdk';
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Markdown } from '../../markdown/markdown.tsx';
import { may } from '../../state/may.ts';
import { parlance, useAccess } from '../../state/server.ts';
import { attempt, Button, Chip, CopyButton, Field, Icon } from '../controls.tsx';
import { Dialog } from '../dialog.tsx';
import { answerText, commandLine, grantText, reasonText } from './approval.ts';
import { PatchView } from './patch-view.tsx';
import { type Key, type KeyActions, useKeys } from './use-keys.ts';

/** An `ApprovalView` of the SDK fits. */
export type ShownApproval = Pick<
  ApprovalView,
  'approval' | 'tool' | 'ask' | 'hash' | 'explanations' | 'state'
>;

type CardProps = {
  readonly session: string;
  readonly approval: ShownApproval;
  /** the session it belongs to, if the page does not show it */
  readonly from?: ReactNode;
};

/** State of the card: an answer is being sent, or the reason of a denial is being typed. */
type CardState = 'nothing' | 'answering' | 'denying';

export function ApprovalCard({ session, approval, from }: CardProps) {
  const { approval: id, tool, ask, hash, explanations, state } = approval;
  const card = useRef<HTMLElement>(null);
  const [doing, setDoing] = useState<CardState>('nothing');
  /** a standing grant needs a second answer */
  const [confirming, setConfirming] = useState(false);
  const [explaining, setExplaining] = useState(false);
  const [here, setHere] = useState(false);
  const answered = answerText(state, here);
  const access = useAccess();
  const mayAnswer = access.status !== 'in' || may(access.about, 'tool:approve');

  async function answer(given: ApprovalAnswer, reason?: string): Promise<void> {
    if (doing === 'answering' || state.status !== 'pending') return;
    setDoing('answering');
    const done = await attempt(() =>
      parlance.approvals.answer(id, { answer: given, hash, ...(reason ? { reason } : {}) }),
    );
    setHere(done);
    if (!done) setDoing('nothing');
  }

  async function explain(): Promise<void> {
    if (explaining) return;
    setExplaining(true);
    await attempt(() => parlance.session(session).explain(id));
    setExplaining(false);
  }

  const isOpen = mayAnswer && state.status === 'pending' && doing === 'nothing';
  const actions: KeyActions = {
    y: () => void answer('once'),
    ...(ask.grant !== undefined && { a: () => setConfirming(true) }),
    n: () => setDoing('denying'),
    ...(!explaining && { e: () => void explain() }),
  };
  const held = useKeys(card, isOpen ? actions : {}, isOpen ? hash : '');

  return (
    <article
      className="card approval"
      ref={card}
      tabIndex={-1}
      data-state={state.status}
      data-approval={id}
      aria-label={`Approval for ${tool}`}
    >
      <header className="approval-head">
        <Icon name="shield" />
        <strong>{answered === null ? 'Needs approval' : 'Answered'}</strong>
        <Chip>{tool}</Chip>
        {from && <span className="approval-from">{from}</span>}
      </header>
      <Description ask={ask} isAnswered={answered !== null} />
      {answered === null && <AskView ask={ask} explanations={explanations} explaining={explaining} />}
      {answered !== null && (
        <p className="approval-answered" role="status">
          <Icon name={state.status === 'answered' && state.answer !== 'deny' ? 'check' : 'close'} />
          {answered}
        </p>
      )}
      {answered === null && doing === 'denying' && (
        <DenyForm onDeny={(reason) => void answer('deny', reason)} onClose={() => setDoing('nothing')} />
      )}
      {answered === null && !mayAnswer && <p className="hint">A developer or an admin can answer this.</p>}
      {answered === null && mayAnswer && doing !== 'denying' && (
        <>
          <Answers
            disabled={doing === 'answering'}
            explaining={explaining}
            always={ask.grant !== undefined}
            held={held}
            onKey={(key) => actions[key]?.()}
          />
          {held === null ? <Grant grant={ask.grant} /> : <HeldHint answer={ANSWERS[held]} />}
        </>
      )}
      {confirming && state.status === 'pending' && (
        <Dialog
          title="Always allow this?"
          confirm="Always allow"
          danger
          onConfirm={() => void answer('always')}
          onClose={() => setConfirming(false)}
        >
          <Grant grant={ask.grant} />
        </Dialog>
      )}
    </article>
  );
}

/** After the answer, only the description names the command. */
function Description({ ask, isAnswered }: { ask: ShownApproval['ask']; isAnswered: boolean }) {
  const text = isAnswered || ask.patch !== undefined ? ask.description : reasonText(ask);
  return text !== null && <p>{text}</p>;
}

type AskViewProps = {
  readonly ask: ShownApproval['ask'];
  readonly explanations: readonly string[];
  readonly explaining: boolean;
};

function AskView({ ask, explanations, explaining }: AskViewProps) {
  const command = commandLine(ask.command);
  return (
    <>
      {ask.patch === undefined ? (
        <div className="approval-command">
          <pre>
            <code>{command}</code>
          </pre>
          <CopyButton text={command} label="Copy command" />
        </div>
      ) : (
        <PatchView patch={ask.patch} replaces={ask.replaces} files={ask.files} />
      )}
      <Explained texts={explanations} waiting={explaining} />
    </>
  );
}

function Grant({ grant }: { grant: string | undefined }) {
  if (grant === undefined)
    return <p className="hint">“Always” is not available: it would allow more than this call.</p>;
  const { what, exactly, runs } = grantText(grant);
  return (
    <p className="hint">
      Always allow: {what} <code>{exactly}</code> {runs} without asking for the rest of this session.
    </p>
  );
}

function Explained({ texts, waiting }: { texts: readonly string[]; waiting: boolean }) {
  if (texts.length === 0 && !waiting) return null;
  return (
    <div className="approval-explained" aria-live="polite">
      {texts.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: explanations are only ever added
        <Markdown key={at} text={text} />
      ))}
      {waiting && <p className="hint">Asking the model for an explanation …</p>}
    </div>
  );
}

// Buttons for the answers to an approval, each with its key.

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
      <Field
        label="Reason (optional, shared with the agent)"
        ref={field}
        name="reason"
        maxLength={2_000}
        onKeyDown={onKeyDown}
      />
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
