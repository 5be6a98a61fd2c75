/** The tasks of this browser: begun, answered, stopped, and continued when the worker wakes up. */

import { type Action, parseAction } from '@parlance/copilot';
import type { Inspection } from '../../messages.ts';
import { pageOf, reportOf } from '../../report.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { type InteractResponse, isRunning, type Report, type TaskRecord } from '../../shared/records.ts';
import { siteOf } from '../../shared/sites.ts';
import { tasks } from '../../shared/storage.ts';
import { askForAction, forgetAsks } from '../permission.ts';
import { ask, ServerError } from '../server.ts';
import { askPage, attach, indicate, PageGone, PageRefused, release, snapshot } from '../tabs/page.ts';
import { type Performed, perform } from '../tabs/perform.ts';
import {
  afterResponse,
  changeTask,
  ended,
  mayUse,
  type NewTask,
  newTask,
  passSite,
  putTask,
  taskOf,
} from './records.ts';

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

// Runs one task until it ends or waits for the person: asks the server, acts, reports.

const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** How often a task that waits for the person looks whether somebody has answered elsewhere. */
const POLL_MS = 2_000;

async function runTask(session: string, signal: AbortSignal): Promise<void> {
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// One action of a task: permission, what always asks, the action itself, and the report.

type ActionResult = { readonly report: Report; readonly change: Partial<TaskRecord> };

const NO_WEBSITE = 'Extensions cannot work on this page. Open a website first.';

/** `begin` is called before the action can have any effect. */
async function act(
  task: TaskRecord,
  written: string,
  { begin, signal }: { readonly begin: () => Promise<unknown>; readonly signal: AbortSignal },
): Promise<ActionResult> {
  const action = parseAction(written);
  if (!action) return refused(written, 'UNSUPPORTED', 'The action could not be read.');
  const { url } = await chrome.tabs.get(task.tab);
  const isOwn = await isOwnServer(url);
  const site = isOwn ? null : siteOf(url);
  if (site === null && !leavesPage(action))
    return refused(written, 'UNSUPPORTED', isOwn ? OWN_SERVER : NO_WEBSITE);
  if (site !== null) await attach(task.tab);
  const inspection = await inspect(task.tab, action, site);
  if (await isOwnServer(inspection.destination)) return refused(written, 'UNSUPPORTED', OWN_SERVER);
  const allowed = await confirmed(task, { written, inspection }, signal);
  if (!allowed) return refused(written, 'USER_DENIED', 'The user did not allow this action.');
  await begin();
  if (site !== null) await indicate(task.tab, 'Parlance is using this page');
  const done = await perform(task.tab, action, {
    visible: (tab) => isVisible(task, tab),
    opened: task.opened,
  });
  const address = await addressToOpen(task, { written, done, inspection }, signal);
  return saveResult(task, written, { done, inspection, address });
}

/** What the page wants to open in a tab of its own; null if that leads to another site and the person does not allow it. */
async function addressToOpen(
  task: TaskRecord,
  { written, done, inspection }: { written: string; done: Performed; inspection: Inspection },
  signal: AbortSignal,
): Promise<string | null> {
  const [address] = done.observations?.openedUrls ?? [];
  const destinationSite = siteOf(address);
  if (address === undefined || destinationSite === null || (await isOwnServer(address))) return null;
  const site = siteOf((await chrome.tabs.get(done.tab)).url);
  if (destinationSite === site || destinationSite === siteOf(inspection.destination ?? undefined))
    return address;
  const allowed = await confirmed(
    task,
    { written, inspection: { reasons: ['other-origin'], target: null, destination: address } },
    signal,
  );
  return allowed ? address : null;
}

/** Actions that can be carried out from a page on which extensions may not work. */
const leavesPage = ({ name }: Action): boolean =>
  ['navigate', 'search', 'createTab', 'switch', 'close', 'getTabs', 'goBack', 'goForward', 'wait'].includes(
    name,
  );

async function inspect(tab: number, action: Action, site: string | null): Promise<Inspection> {
  if (site !== null) return askPage(tab, { kind: 'inspect', action });
  const destination = 'url' in action ? action.url : null;
  return { reasons: destination === null ? [] : ['other-origin'], target: null, destination };
}

/** A site that was allowed before needs no question for leading there. */
async function confirmed(
  task: TaskRecord,
  inspected: { readonly written: string; readonly inspection: Inspection },
  signal: AbortSignal,
): Promise<boolean> {
  const { written, inspection } = inspected;
  const { reasons, target, destination } = inspection;
  const site = siteOf((await chrome.tabs.get(task.tab)).url) ?? '';
  const destinationSite = siteOf(destination ?? undefined);
  const known = destinationSite === null ? null : await mayUse(destinationSite, task.allowed);
  if (known === 'denied') return false;
  const open = reasons.filter((reason) => reason !== 'other-origin' || known !== 'allowed');
  if (open.length === 0) return true;
  const verdict = await askForAction(
    {
      id: `${task.id} action ${task.actionCount}`,
      tab: task.tab,
      site,
      session: task.session,
      reasons: open,
      description: target ? `${written} – ${target.role} “${target.name}”` : written,
      destination,
    },
    signal,
  );
  return verdict === 'allowed';
}

/** The task knows of tabs that it has opened, and of those on sites that are allowed. */
async function isVisible(task: TaskRecord, tab: chrome.tabs.Tab): Promise<boolean> {
  if (tab.id === task.tab || (tab.id !== undefined && task.opened.includes(tab.id))) return true;
  const site = siteOf(tab.url);
  return site !== null && (await mayUse(site, task.allowed)) === 'allowed';
}

type FinishedAction = {
  readonly done: Performed;
  readonly inspection: Inspection;
  /** to be opened in a tab of its own */
  readonly address: string | null;
};

async function saveResult(
  task: TaskRecord,
  written: string,
  { done, inspection, address }: FinishedAction,
): Promise<ActionResult> {
  const { outcome, observations, screenshot } = done;
  const opened = done.opened === undefined ? task.opened : [...task.opened, done.opened];
  // The person has allowed what leads there.
  const destinationSites = [inspection.destination, address].map((each) => siteOf(each ?? undefined));
  const allowed = [...new Set([...task.allowed, ...destinationSites.filter((site) => site !== null)])];
  const tab = address === null ? done.tab : await openFor(task, address, done.tab);
  const change = { tab, opened: tab === done.tab ? opened : [...opened, tab], allowed };
  await changeTask(task, change);
  return {
    report: { ...reportOf(written, outcome, observations), ...(screenshot && { screenshot }) },
    change,
  };
}

/** A link that opens a tab of its own: the task continues there. */
async function openFor(task: TaskRecord, address: string, tab: number): Promise<number> {
  const { id } = await chrome.tabs.create({ url: address, openerTabId: task.tab });
  return id ?? tab;
}

const refused = (action: string, code: string, message: string): ActionResult => ({
  report: {
    lastActionStatus: 'failure',
    lastActionError: { message, code, action },
    lastActionResult: { success: false },
    clientObservations: { didNetworkOccur: false, didDomMutate: false, didUrlChange: false },
  },
  change: {},
});
