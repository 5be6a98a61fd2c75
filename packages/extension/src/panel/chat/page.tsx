/** A session as a chat, with tasks on the current tab. */
import { useEffect, useMemo } from 'react';
import { Empty } from '../../../../web/src/components/empty.tsx';
import { Announcer } from '../../../../web/src/pages/chat/announcer.tsx';
import { ConnectionChip } from '../../../../web/src/pages/chat/connection-chip.tsx';
import { messagesOf, rowsOf } from '../../../../web/src/pages/chat/rows.ts';
import { Transcript } from '../../../../web/src/pages/chat/transcript.tsx';
import { useSession } from '../../../../web/src/state/session.ts';
import { tasks } from '../../shared/storage.ts';
import { isRunning, type TaskRecord } from '../../shared/task-record.ts';
import { useStored } from '../use-stored.ts';
import { type ShownTab, useTab } from '../use-tab.ts';
import { sendToWorker } from '../worker.ts';
import { Asks } from './asks.tsx';
import { PanelComposer } from './composer.tsx';
import { planOf } from './plan.ts';
import { PlanStepper } from './plan-stepper.tsx';
import { SiteBar } from './site-bar.tsx';
import { TaskStatus } from './task-status.tsx';
import { ToolUses } from './tool-uses.tsx';

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
