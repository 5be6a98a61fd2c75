/** A session as a chat, with tasks on the current tab. */

import { Announcer } from '@parlance/ui/chat/announcer.tsx';
import { ConnectionChip } from '@parlance/ui/chat/connection-chip.tsx';
import { messagesOf, rowsOf } from '@parlance/ui/chat/rows.ts';
import { Transcript } from '@parlance/ui/chat/transcript.tsx';
import {
  Button,
  Chip,
  type ChipVariant,
  Choice,
  Empty,
  Icon,
  Notice,
} from '@parlance/ui/components/controls.tsx';
import { useSession } from '@parlance/ui/state/session.ts';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { isRunning, type SiteChoice, type TaskOutcome, type TaskRecord } from '../../shared/records.ts';
import { siteName } from '../../shared/sites.ts';
import { asks, sites, tasks, toolUses } from '../../shared/storage.ts';
import { type ShownTab, sendToWorker, useStored, useTab } from '../state.ts';
import { Asks } from './asks.tsx';
import { PanelComposer } from './composer.tsx';
import { type PlanSteps, planOf, type StepStatus } from './plan.ts';

const AWAKE_MS = 3_000;

export function ChatPage({ session }: { session: string | null }) {
  const tab = useTab();
  const task = useStored(tasks)?.[session ?? ''] ?? null;
  useAwakeWorker(task !== null && isRunning(task));
  return (
    <main className="panel-chat">
      {session === null ? <Welcome tab={tab} /> : <Session id={session} tab={tab} task={task} />}
    </main>
  );
}

/** Chromium may suspend the worker during a task; a message wakes it up, and it resumes the task. */
function useAwakeWorker(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => void sendToWorker({ kind: 'retry' }), AWAKE_MS);
    return () => clearInterval(timer);
  }, [isNeeded]);
}

function Welcome({ tab }: { tab: ShownTab | null }) {
  return (
    <>
      <Empty title="What can I do for you?">
        Ask about the page you are looking at, or give me a task in it. You see each action, and nothing is
        done on a site without your permission.
      </Empty>
      <div className="panel-foot">
        <ToolUses />
        <Asks session={null} />
        <SiteBar tab={tab} />
        <PanelComposer session={null} tab={tab} task={null} running={false} earlier={[]} />
      </div>
    </>
  );
}

type SessionProps = { readonly id: string; readonly tab: ShownTab | null; readonly task: TaskRecord | null };

function Session({ id, tab, task }: SessionProps) {
  const { view, connection, retryNow } = useSession(id);
  const rows = useMemo(() => rowsOf(view), [view]);
  const earlier = useMemo(() => messagesOf(rows), [rows]);
  const plan = useMemo(() => planOf(view), [view]);
  const running = view.status === 'running' || view.status === 'waiting';
  const isGone = connection.status === 'closed' && connection.fault?.code === 'not_found';
  return (
    <>
      <Announcer view={view} />
      <div className="panel-title">
        <h2>{view.title || 'New session'}</h2>
        <ConnectionChip connection={connection} retryNow={retryNow} />
      </div>
      {isGone ? (
        <Empty title="Session not found">It was deleted, or it belongs to another user.</Empty>
      ) : null}
      {plan && <PlanStepper plan={plan} />}
      {rows.length === 0 && task && <p className="said-bubble panel-said">{task.query}</p>}
      <Transcript session={id} rows={rows} />
      <div className="panel-foot">
        <ToolUses />
        <Asks session={id} />
        {task && <TaskStatus task={task} hasApproval={view.pending !== null} />}
        <SiteBar tab={tab} />
        <PanelComposer session={id} tab={tab} task={task} running={running} earlier={earlier} />
      </div>
    </>
  );
}

const WORDS: Readonly<Record<StepStatus, string>> = {
  pending: 'to do',
  active: 'in progress',
  completed: 'done',
  failed: 'failed',
};

/** The plan of the task: past, current and coming steps. */
function PlanStepper({ plan }: { plan: PlanSteps }) {
  return (
    <ol className="stepper" aria-label="Plan">
      {plan.map(({ number, description, status }) => (
        <li
          key={number}
          className={`stepper-${status}`}
          aria-current={status === 'active' ? 'step' : undefined}
        >
          <span className="stepper-mark" aria-hidden="true">
            {status === 'completed' ? (
              <Icon name="check" />
            ) : status === 'failed' ? (
              <Icon name="close" />
            ) : (
              number
            )}
          </span>
          <span>
            {description}
            <span className="unseen"> ({WORDS[status]})</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

// The site of the current tab and its permission.

function SiteBar({ tab }: { tab: ShownTab | null }) {
  const all = useStored(sites);
  if (all === null) return null;
  if (!tab?.site)
    return <p className="site-bar hint">Extensions cannot work on this tab. A task can open a website.</p>;
  const { site } = tab;
  return (
    <Choice label={siteName(site)} className="site-bar">
      {(id) => (
        <select
          // Not controlled: the storage answers later than the choice.
          key={all[site] ?? 'ask'}
          id={id}
          defaultValue={all[site] ?? 'ask'}
          title={`What Parlance may do on ${siteName(site)}`}
          onChange={(event) =>
            void sendToWorker({ kind: 'site', site, choice: event.target.value as SiteChoice })
          }
        >
          <option value="ask">Ask</option>
          <option value="allow">Allow</option>
          <option value="never">Never</option>
        </select>
      )}
    </Choice>
  );
}

// How the task of this browser stands: a problem, a question, or its end.

const OUTCOMES: Readonly<Record<TaskOutcome, { variant: ChipVariant; word: string }>> = {
  completed: { variant: 'good', word: 'Completed' },
  failed: { variant: 'bad', word: 'Failed' },
  stopped: { variant: 'plain', word: 'Stopped' },
};

/** `hasApproval`: the question is an approval, which the transcript shows. */
function TaskStatus({ task, hasApproval }: { task: TaskRecord; hasApproval: boolean }) {
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

// What agents in other clients are doing in this browser now.

function ToolUses() {
  const open = (useStored(toolUses) ?? []).filter(({ state }) => state === 'asking' || state === 'running');
  if (open.length === 0) return null;
  return (
    <ul className="tool-uses" aria-label="Agents in the browser">
      {open.map(({ id, description, site, state }) => (
        <li key={id}>
          <Chip variant={state === 'running' ? 'busy' : 'waiting'}>
            {state === 'running' ? 'Running' : 'Asks'}
          </Chip>
          {description}
          {site !== null && ` on ${siteName(site)}`}
        </li>
      ))}
    </ul>
  );
}
