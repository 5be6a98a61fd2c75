/** Runs one task until it ends or waits for the person: asks the server, acts, reports. */
import { pageOf } from '../../report.ts';
import type { InteractResponse } from '../../shared/contract.ts';
import { isRunning, type Report, type TaskRecord } from '../../shared/task-record.ts';
import { ask, ServerError } from '../server.ts';
import { PageGone, PageRefused } from '../tabs/content.ts';
import { indicate, release, snapshot } from '../tabs/page.ts';
import { act, refused } from './act.ts';
import { afterResponse } from './next-state.ts';
import { changeTask, ended, taskOf } from './records.ts';
import { passSite } from './site-permission.ts';

const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** How often a task that waits for the person looks whether somebody has answered elsewhere. */
const POLL_MS = 2_000;

export async function runTask(session: string, signal: AbortSignal): Promise<void> {
  let failures = 0;
  for (let task = await taskOf(session); task && isRunning(task) && !signal.aborted; ) {
    const before: TaskRecord = task;
    try {
      task = await unlessAborted(step(before, signal), signal);
      failures = 0;
    } catch (thrown) {
      if (signal.aborted) break;
      if (!(thrown instanceof ServerError) || !thrown.retry) {
        await changeTask(before, ended('failed', messageOf(thrown)));
        break;
      }
      task = await changeTask(before, { problem: thrown.message });
      await pause(Math.max(thrown.waitMs, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 0), signal);
    }
  }
  const last = await taskOf(session);
  if (last && !isRunning(last)) for (const tab of new Set([last.tab, ...last.opened])) await release(tab);
}

async function step(task: TaskRecord, signal: AbortSignal): Promise<TaskRecord | null> {
  const { state } = task;
  switch (state.phase) {
    case 'asking-server':
      return interact(task, { query: state.reply ?? task.query }, signal);
    case 'acting':
      return performAction(task, signal);
    case 'reporting':
      return interact(task, { query: task.query, ...state.report }, signal);
    case 'question':
      return waitForAnswer(task, signal);
    case 'ended':
      return task;
  }
}

async function performAction(task: TaskRecord, signal: AbortSignal): Promise<TaskRecord | null> {
  const { state } = task;
  if (state.phase !== 'acting') return task;
  const { action } = state;
  // The worker was suspended during the action: the page shows what came of it.
  if (state.begun) return changeTask(task, { state: { phase: 'reporting', action, report: UNKNOWN } });
  const begin = () => changeTask(task, { state: { ...state, begun: true } });
  const { report, change } = await act(task, action, { begin, signal }).catch((thrown) => {
    signal.throwIfAborted();
    if (thrown instanceof ServerError) throw thrown;
    return refused(action, 'INTERNAL_ERROR', messageOf(thrown));
  });
  signal.throwIfAborted();
  return changeTask(task, { ...change, state: { phase: 'reporting', action, report } });
}

const UNKNOWN: Report = { lastActionStatus: 'pending' };

/** Sends the page, or an error to the server if the site may not be read. */
async function interact(task: TaskRecord, body: Report, signal: AbortSignal): Promise<TaskRecord | null> {
  const pass = await passSite(task, signal);
  const isFirst = task.taskId === null;
  if (!pass.ok && pass.isSite && isFirst) return changeTask(task, ended('failed', pass.message));
  const page = pass.ok ? await pageIn(pass.task) : { problem: pass.message };
  const response = await ask<{ data: InteractResponse }>({
    path: '/api/agent/interact',
    headers: isFirst ? { 'idempotency-key': task.id } : {},
    body: {
      sessionId: task.session,
      actionGrammar: 'extended',
      ...(!isFirst && { taskId: task.taskId, actionCount: task.actionCount }),
      ...body,
      ...(!('problem' in page) ? page : isFirst ? {} : pageError(task, page.problem)),
    },
    signal,
  });
  return changeTask(task, afterResponse(task, response.data));
}

async function pageIn(task: TaskRecord): Promise<ReturnType<typeof pageOf> | { problem: string }> {
  try {
    const page = pageOf(await snapshot(task.tab));
    await indicate(task.tab, 'Parlance is working on this page');
    return page;
  } catch (thrown) {
    if (thrown instanceof PageGone || thrown instanceof PageRefused) return { problem: thrown.message };
    throw thrown;
  }
}

/** The model learns that the page could not be read, and why. */
const pageError = ({ state }: TaskRecord, problem: string): Report =>
  refused('action' in state ? state.action : '', 'PAGE_NOT_READ', problem).report;

/** An answer in the panel changes the task; one given elsewhere is noticed at the server. */
async function waitForAnswer(task: TaskRecord, signal: AbortSignal): Promise<TaskRecord | null> {
  await pause(POLL_MS, signal);
  const now = await taskOf(task.session);
  if (now?.state.phase !== 'question') return now;
  const path = `/api/session/${task.session}/task/active`;
  const { data } = await ask<{ data: { status: string; taskId: string } | null }>({ path, signal });
  if (data?.taskId === task.taskId && data?.status === 'needs_user_input') return now;
  return changeTask(now, { state: { phase: 'reporting', action: '', report: {} } });
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** A page that is asked to wait does not hold up the end of the task. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
