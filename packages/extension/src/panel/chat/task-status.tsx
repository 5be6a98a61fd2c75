/** How the task of this browser stands: a problem, a question, or its end. */
import { type FormEvent, useState } from 'react';
import { Button } from '../../../../web/src/components/button.tsx';
import { Chip, type ChipVariant } from '../../../../web/src/components/chip.tsx';
import { Notice } from '../../../../web/src/components/notice.tsx';
import { asks } from '../../shared/storage.ts';
import type { TaskOutcome, TaskRecord } from '../../shared/task-record.ts';
import { useStored } from '../use-stored.ts';
import { sendToWorker } from '../worker.ts';

const OUTCOMES: Readonly<Record<TaskOutcome, { variant: ChipVariant; word: string }>> = {
  completed: { variant: 'good', word: 'Completed' },
  failed: { variant: 'bad', word: 'Failed' },
  stopped: { variant: 'plain', word: 'Stopped' },
};

/** `hasApproval`: the question is an approval, which the transcript shows. */
export function TaskStatus({ task, hasApproval }: { task: TaskRecord; hasApproval: boolean }) {
  const { state, problem } = task;
  const waits = (useStored(asks) ?? []).some(
    ({ session, answer }) => session === task.session && answer === null,
  );
  if (waits) return null;
  if (problem !== null)
    return <Notice variant="warning">{problem} The task continues when the server is back.</Notice>;
  switch (state.phase) {
    case 'question':
      return hasApproval ? null : <Question task={task} question={state.question} missing={state.missing} />;
    case 'ended': {
      const { variant, word } = OUTCOMES[state.outcome];
      return (
        <p className="task-status" role="status">
          <Chip variant={variant}>{word}</Chip>
          {state.outcome !== 'completed' && <span>{state.message}</span>}
        </p>
      );
    }
    case 'acting':
      return (
        <p className="task-status" role="status">
          <Chip variant="busy">Running</Chip>
          <span>{state.thought || state.action}</span>
        </p>
      );
    case 'asking-server':
    case 'reporting':
      return (
        <p className="task-status" role="status">
          <Chip variant="busy">Running</Chip>
          <span>{state.phase === 'reporting' ? 'Checking the result' : 'Reading the page'}</span>
        </p>
      );
  }
}

type QuestionProps = {
  readonly task: TaskRecord;
  readonly question: string;
  readonly missing: readonly string[];
};

function Question({ task, question, missing }: QuestionProps) {
  const [text, setText] = useState('');

  function send(event: FormEvent): void {
    event.preventDefault();
    if (text.trim() !== '') void sendToWorker({ kind: 'reply', session: task.session, text: text.trim() });
  }

  return (
    <form className="card ask" onSubmit={send} aria-label="Question from the agent">
      <p>{question}</p>
      {missing.length > 0 && <p className="hint">Missing: {missing.join(', ')}</p>}
      <input value={text} aria-label="Your answer" onChange={(event) => setText(event.target.value)} />
      <div className="ask-answers">
        <Button type="submit" variant="primary" disabled={text.trim() === ''}>
          Answer
        </Button>
      </div>
    </form>
  );
}
