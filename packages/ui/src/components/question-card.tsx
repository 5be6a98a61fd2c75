/** A question to the user: its options and text fields, and afterwards who answered what. Texts are shown as they are. */
import type { QuestionItem } from '@parlance/protocol';
import type { QuestionView } from '@parlance/sdk';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { may } from '../state/may.ts';
import { parlance, useAccess } from '../state/server.ts';
import { attempt, Button, Chip, Icon } from './controls.tsx';

/** A `QuestionView` of the SDK fits. */
export type ShownQuestion = Pick<
  QuestionView,
  'question' | 'purpose' | 'title' | 'questions' | 'requires' | 'path' | 'problem' | 'state'
>;

const ASKS: Readonly<Record<QuestionView['purpose'], string>> = {
  tool: 'The agent asks',
  elicitation: 'An MCP server asks',
  limit: 'A limit is reached',
  instructions: 'Project instructions',
  merge: 'Changes to merge',
};

const ENDS: Readonly<Record<QuestionView['state']['status'], string>> = {
  pending: '',
  answered: 'Answered',
  declined: 'Declined',
  withdrawn: 'Withdrawn',
  lapsed: 'Not answered',
};

type CardProps = {
  readonly question: ShownQuestion;
  /** the session it belongs to, if the page does not show it */
  readonly from?: ReactNode;
};

export function QuestionCard({ question: asked, from }: CardProps) {
  const { question, purpose, title, questions, requires, path, problem, state } = asked;
  const [busy, setBusy] = useState(false);
  const access = useAccess();
  const permission = requires === 'approve' ? 'tool:approve' : 'chat:send';
  const mayAnswer = access.status !== 'in' || may(access.about, permission);
  const isPending = state.status === 'pending';

  async function send(answers: Record<string, string[]> | null): Promise<void> {
    if (busy) return;
    setBusy(true);
    await attempt(() => parlance.questions.answer(question, answers));
    setBusy(false);
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void send(Object.fromEntries(questions.map((item) => [item.id, answersIn(form, item)])));
  }

  return (
    <article
      className="card question"
      data-state={state.status}
      data-question={question}
      aria-label={`Question: ${title ?? questions[0]?.header ?? ''}`}
    >
      <header className="approval-head">
        <Icon name="question" />
        <strong>{isPending ? ASKS[purpose] : ENDS[state.status]}</strong>
        {path?.map((name) => (
          <Chip key={name}>{name}</Chip>
        ))}
        {from && <span className="approval-from">{from}</span>}
      </header>
      {title && <p>{title}</p>}
      {isPending && mayAnswer ? (
        <form className="question-form" onSubmit={submit}>
          {questions.map((item) => (
            <ItemFields key={item.id} item={item} />
          ))}
          {problem !== null && (
            <p className="hint" role="alert">
              {problem}
            </p>
          )}
          <div className="approval-answers">
            <Button type="submit" variant="primary" disabled={busy}>
              Answer
            </Button>
            <Button variant="quiet" disabled={busy} onClick={() => void send(null)}>
              Skip
            </Button>
          </div>
        </form>
      ) : (
        <Given asked={asked} />
      )}
      {isPending && !mayAnswer && (
        <p className="hint">
          {requires ? 'A developer or an admin can answer this.' : 'You cannot answer in this session.'}
        </p>
      )}
    </article>
  );
}

/** What has been chosen, and what has been written unless a single choice takes its place. */
function answersIn(form: FormData, { id, multiple }: QuestionItem): string[] {
  const chosen = form.getAll(`${id} option`).map(String).filter(Boolean);
  const written = String(form.get(`${id} text`) ?? '').trim();
  if (written === '') return chosen;
  return multiple ? [...chosen, written] : [written];
}

const LONG_TEXT = 400;

/** Nothing else becomes a link. */
const isWebAddress = (link: string): boolean => /^https?:$/.test(URL.parse(link)?.protocol ?? '');

function ItemFields({ item }: { item: QuestionItem }) {
  const { id, header, text, options, multiple, freeText, default: usual = [], format, link } = item;
  const own = usual.filter((value) => !options.some(({ label }) => label === value));
  const name = useId();
  return (
    <fieldset className="question-item" aria-describedby={`${name}-text`}>
      <legend>{header}</legend>
      {/* Long texts scroll, also with the keyboard. */}
      <p id={`${name}-text`} tabIndex={text.length > LONG_TEXT ? 0 : undefined}>
        {text}
      </p>
      {link && isWebAddress(link) && (
        <p>
          <a href={link} target="_blank" rel="noopener noreferrer">
            Open {new URL(link).host}
          </a>
        </p>
      )}
      {options.map(({ label, description }) => (
        <label key={label} className="question-option">
          <input
            type={multiple ? 'checkbox' : 'radio'}
            name={`${id} option`}
            value={label}
            defaultChecked={usual.includes(label)}
          />
          <span>
            {label}
            {description && <small>{description}</small>}
          </span>
        </label>
      ))}
      {freeText && (
        <input
          className="question-text"
          name={`${id} text`}
          aria-label={options.length > 0 ? `Other answer to ${header}` : `Answer to ${header}`}
          placeholder={options.length > 0 ? 'Other answer' : ''}
          defaultValue={own.join(', ')}
          inputMode={format === 'number' || format === 'integer' ? 'decimal' : 'text'}
          maxLength={10_000}
          autoComplete="off"
        />
      )}
    </fieldset>
  );
}

function Given({ asked: { questions, state } }: { asked: ShownQuestion }) {
  const answers = 'answers' in state ? state.answers : undefined;
  return (
    <dl className="question-given">
      {questions.map(({ id, header, text }) => (
        <div key={id}>
          <dt>
            {header}: {text}
          </dt>
          {answers && <dd>{answers[id]?.join(', ') || 'No answer'}</dd>}
        </div>
      ))}
    </dl>
  );
}
