/** The tasks in the storage, by session: their next state, and whether they may use the site in their tab. */

import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { type InteractResponse, isRunning, type TaskRecord, type TaskState } from '../../shared/records.ts';
import { siteName, siteOf } from '../../shared/sites.ts';
import { tasks } from '../../shared/storage.ts';
import { askForSite, siteVerdict } from '../permission.ts';

/** Ended tasks are kept for display. */
const MAX_KEPT = 20;

export const taskOf = async (session: string): Promise<TaskRecord | null> =>
  (await tasks.get())[session] ?? null;

export type NewTask = Pick<TaskRecord, 'session' | 'tab' | 'query'>;

export const newTask = (options: NewTask): TaskRecord => ({
  ...options,
  id: crypto.randomUUID(),
  opened: [],
  allowed: [],
  taskId: null,
  actionCount: 0,
  plan: null,
  state: { phase: 'asking-server', reply: null },
  problem: null,
});

export async function putTask(task: TaskRecord): Promise<void> {
  await tasks.change((all) => {
    const { [task.session]: _, ...others } = all;
    const ended = Object.values(others).filter((other) => !isRunning(other));
    const dropped = new Set(
      ended.slice(0, Math.max(0, ended.length - MAX_KEPT)).map(({ session }) => session),
    );
    const remaining = Object.entries(others).filter(([session]) => !dropped.has(session));
    return Object.fromEntries([...remaining, [task.session, task]]);
  });
}

/** Changes the task unless it has ended or another one has taken its place. Null then. */
export async function changeTask(
  { id, session }: Pick<TaskRecord, 'id' | 'session'>,
  change: Partial<TaskRecord>,
): Promise<TaskRecord | null> {
  const all = await tasks.change((before) => {
    const task = before[session];
    return task?.id === id && isRunning(task) ? { ...before, [session]: { ...task, ...change } } : before;
  });
  const task = all[session];
  return task?.id === id ? task : null;
}

export const ended = (
  outcome: Extract<TaskState, { phase: 'ended' }>['outcome'],
  message: string,
): { state: TaskState; problem: null } => ({ state: { phase: 'ended', outcome, message }, problem: null });

// The task after a response of the server. Pure.

type Change = Pick<TaskRecord, 'taskId' | 'actionCount' | 'plan' | 'state' | 'problem'>;

export function afterResponse(task: TaskRecord, response: InteractResponse): Change {
  return {
    taskId: response.taskId ?? task.taskId,
    actionCount: response.metrics?.actionCount ?? task.actionCount,
    plan: response.plan ?? task.plan,
    state: stateAfter(response),
    problem: null,
  };
}

function stateAfter({
  status,
  action,
  thought = '',
  userQuestion,
  missingInformation,
}: InteractResponse): TaskState {
  if (status === 'needs_user_input')
    return { phase: 'question', question: userQuestion ?? thought, missing: missingInformation ?? [] };
  // The page is always sent whole: it is sent again.
  if (status === 'needs_full_dom') return { phase: 'reporting', action: '', report: {} };
  if (action === undefined || action === 'fail()')
    return { phase: 'ended', outcome: 'failed', message: thought };
  if (action === 'finish()')
    return { phase: 'ended', outcome: status === 'failed' ? 'failed' : 'completed', message: thought };
  return { phase: 'acting', action, thought, begun: false };
}

// Whether a task may read and use the page in its tab.

/** Without a question; null if the person has to be asked. */
export const mayUse = siteVerdict;

export type SitePass =
  | { readonly ok: true; readonly task: TaskRecord }
  /** the page is not read: `message` is for the model and the person; `isSite`: the person decided so */
  | { readonly ok: false; readonly message: string; readonly isSite: boolean };

/** Asks the person where needed. Pages on which extensions cannot work are not sites. */
export async function passSite(task: TaskRecord, signal: AbortSignal): Promise<SitePass> {
  const site = siteOf((await chrome.tabs.get(task.tab)).url);
  if (site === null)
    return {
      ok: false,
      message: 'Extensions cannot work on this page. Open a website first.',
      isSite: false,
    };
  if (await isOwnServer(site)) return { ok: false, message: OWN_SERVER, isSite: false };
  const verdict = await siteVerdict(site, task.allowed);
  if (verdict === 'allowed') return { ok: true, task };
  const never = `The user does not allow ${siteName(site)} to be read or used.`;
  const denied: SitePass = { ok: false, message: never, isSite: true };
  if (verdict === 'denied') return denied;
  const answer = await askForSite(
    { id: `${task.id} site ${site}`, tab: task.tab, site, session: task.session, purpose: task.query },
    signal,
  );
  if (answer === 'never') return denied;
  const changed = await changeTask(task, { allowed: [...task.allowed, site] });
  return changed ? { ok: true, task: changed } : denied;
}
