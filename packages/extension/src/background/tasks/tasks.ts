/** The tasks of this browser: begun, answered, stopped, and continued when the worker wakes up. */
import { tasks } from '../../shared/storage.ts';
import { isRunning } from '../../shared/task-record.ts';
import { forgetAsks } from '../permission.ts';
import { ask } from '../server.ts';
import { release } from '../tabs/page.ts';
import { changeTask, ended, type NewTask, newTask, putTask, taskOf } from './records.ts';
import { runTask } from './run.ts';

type Running = { readonly abort: AbortController; readonly over: Promise<void> };

/** by session */
const running = new Map<string, Running>();

export const isBusy = (): boolean => running.size > 0;

function start(session: string): void {
  if (running.has(session)) return;
  const abort = new AbortController();
  const over = runTask(session, abort.signal).finally(() => running.delete(session));
  running.set(session, { abort, over });
}

async function halt(session: string): Promise<void> {
  const found = running.get(session);
  found?.abort.abort(new Error('The task was stopped.'));
  await found?.over.catch(() => undefined);
}

/** Takes the place of the task that runs in the session. */
export async function beginTask(options: NewTask): Promise<void> {
  const { session } = options;
  await halt(session);
  await putTask(newTask(options));
  start(session);
}

export async function replyTo(session: string, text: string): Promise<void> {
  const task = await taskOf(session);
  if (task?.state.phase !== 'question') throw new Error('The task does not wait for an answer.');
  await changeTask(task, { state: { phase: 'asking-server', reply: text } });
  start(session);
}

/** Ends the task here at once, and on the server as soon as it is reached. */
export async function stopTask(session: string): Promise<void> {
  const task = await taskOf(session);
  if (!task || !isRunning(task)) return;
  await changeTask(task, ended('stopped', 'Stopped by you.'));
  await halt(session);
  await forgetAsks((one) => one.session !== session);
  for (const tab of new Set([task.tab, ...task.opened])) await release(tab);
  const path = `/v1/sessions/${encodeURIComponent(session)}/commands`;
  await ask({ path, body: { type: 'turn.cancel' } }).catch(() => undefined);
}

export async function stopAllTasks(): Promise<void> {
  const all = Object.values(await tasks.get()).filter(isRunning);
  await Promise.all(all.map(({ session }) => stopTask(session)));
}

/** Resumes running tasks after the worker was suspended. */
export async function continueTasks(): Promise<void> {
  for (const task of Object.values(await tasks.get())) if (isRunning(task)) start(task.session);
}

/** A tab that is closed by the person ends its task. */
export async function tabClosed(tab: number): Promise<void> {
  for (const task of Object.values(await tasks.get()))
    if (isRunning(task) && task.tab === tab && task.state.phase !== 'acting') {
      await changeTask(task, ended('stopped', 'The tab was closed.'));
      await halt(task.session);
    }
}
