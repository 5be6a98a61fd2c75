/**
 * The background worker: runs tasks and browser tools. Chromium suspends it when it is idle: the state of running tasks is in
 * the storage, and an alarm wakes it up.
 */
import type { PanelMessage, WorkerReply } from '../panel-messages.ts';
import { isRunning } from '../shared/records.ts';
import { siteOf } from '../shared/sites.ts';
import {
  asks,
  connection,
  restrictToExtension,
  sites,
  tasks,
  toolsOn,
  unfinished,
} from '../shared/storage.ts';
import { chooseSite, forgetAsks } from './permission.ts';
import { ask, checkPairing, pairedNow } from './server.ts';
import { registerEarly } from './tabs/early-scripts.ts';
import { askPage, inject } from './tabs/page.ts';
import { ended, mayUse, newTask, putTask } from './tasks/records.ts';
import {
  beginTask,
  continueTasks,
  isBusy,
  replyTo,
  stopAllTasks,
  stopTask,
  tabClosed,
} from './tasks/tasks.ts';
import { forgetOpenUses, offerTools, stopTools, toolsBusy } from './tools.ts';

const WAKE_UP = 'wake up';
/** Chromium counts calls of its API as activity: a worker with a task is not suspended while it waits for the model. */
const ALIVE_MS = 20_000;

const refresh = (): void => void showBadge(isBusy() || toolsBusy());
const connect = (): void => void offerTools(refresh);

async function perform(message: PanelMessage): Promise<void> {
  switch (message.kind) {
    case 'task':
      return beginTask(message);
    case 'reply':
      return replyTo(message.session, message.text);
    case 'answer':
      await asks.change((all) =>
        all.map((ask) => (ask.id === message.id ? ({ ...ask, answer: message.answer } as typeof ask) : ask)),
      );
      return;
    case 'site':
      await chooseSite(message.site, message.choice);
      return;
    case 'stop':
      return message.session === undefined ? stopEverything() : stopTask(message.session);
    case 'retry':
      connect();
      return continueTasks();
    case 'check': {
      const { url, token } = await pairedNow();
      return checkPairing(url, token);
    }
  }
}

async function stopEverything(): Promise<void> {
  await Promise.all([stopAllTasks(), stopTools()]);
  await forgetAsks(() => false);
}

/** Pages have no say: only our own pages and content scripts send messages, and content scripts can only stop. */
const isOwnPage = ({ url, tab }: chrome.runtime.MessageSender): boolean =>
  url?.startsWith(chrome.runtime.getURL('')) === true || (tab === undefined && url === undefined);

chrome.runtime.onMessage.addListener(
  (message: PanelMessage, sender, reply: (answer: WorkerReply) => void) => {
    if (sender.id !== chrome.runtime.id || (!isOwnPage(sender) && message.kind !== 'stop')) return false;
    const wanted: PanelMessage = isOwnPage(sender) ? message : { kind: 'stop' };
    perform(wanted).then(
      () => reply({ ok: true }),
      (thrown) => reply({ ok: false, message: thrown instanceof Error ? thrown.message : String(thrown) }),
    );
    return true;
  },
);

chrome.tabs.onUpdated.addListener((id, { status }, { url }) => {
  if (status === 'loading') void pageLoads(id, url);
});
chrome.tabs.onRemoved.addListener((tab) => void tabClosed(tab));
chrome.commands.onCommand.addListener((command) => {
  if (command === 'stop') void stopEverything();
});
chrome.runtime.onInstalled.addListener(() => {
  void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
});
chrome.alarms.onAlarm.addListener(() => {
  connect();
  void continueTasks();
});
connection.watch((now) => {
  connect();
  if (now.status === 'paired') void continueTasks();
});
toolsOn.watch(connect);
asks.watch(refresh);
sites.watch(registerEarly);
tasks.watch((all) => {
  registerEarly();
  void rememberUnfinished();
  if (Object.values(all).some(isRunning)) refresh();
  else setTimeout(refresh, 0);
});
setInterval(() => {
  if (isBusy() || toolsBusy()) void chrome.runtime.getPlatformInfo();
}, ALIVE_MS);

async function wakeUp(): Promise<void> {
  await restrictToExtension();
  await chrome.alarms.create(WAKE_UP, { periodInMinutes: 0.5 });
  await forgetAsks(({ session }) => session !== null);
  await forgetOpenUses();
  await endUnfinished();
  registerEarly();
  connect();
  await continueTasks();
  refresh();
}

void wakeUp();

// The badge of the toolbar button: a question waits, or something happens in the browser.

async function showBadge(isBusy: boolean): Promise<void> {
  const waiting = (await asks.get()).filter(({ answer }) => answer === null).length;
  const text = waiting > 0 ? '?' : isBusy ? '●' : '';
  await chrome.action.setBadgeText({ text });
  await chrome.action.setBadgeBackgroundColor({ color: waiting > 0 ? '#8a5300' : '#22654f' });
  await chrome.action.setTitle({
    title:
      waiting > 0 ? 'Parlance needs your answer' : isBusy ? 'Parlance is using the browser' : 'Open Parlance',
  });
}

// Scripts are injected while a page of a task is still loading: its own dialogs would block it before it can be read.

async function pageLoads(tab: number, address: string | undefined): Promise<void> {
  const task = Object.values(await tasks.get()).find((one) => isRunning(one) && one.tab === tab);
  const site = siteOf(address);
  if (!task || site === null || (await mayUse(site, task.allowed)) !== 'allowed') return;
  try {
    await inject(tab);
    await askPage(tab, { kind: 'attach' }, 2_000);
  } catch {
    // Replaced or closed meanwhile: the task injects them when it reads the page.
    return;
  }
}

// Tasks that were running when the browser was closed. Their records, which hold parts of pages, are only kept until then; what
// remains is enough to say so, and to end them on the server.

const CLOSED = 'The browser was closed before the task had ended. Send it again to start over.';

/** Called when a task changes. */
async function rememberUnfinished(): Promise<void> {
  const running = Object.values(await tasks.get()).filter(isRunning);
  await unfinished.change((before) => {
    const now = Object.fromEntries(running.map(({ session, query }) => [session, query]));
    return JSON.stringify(before) === JSON.stringify(now) ? before : now;
  });
}

/** Called once when the worker starts. */
async function endUnfinished(): Promise<void> {
  const [left, known] = await Promise.all([unfinished.get(), tasks.get()]);
  for (const [session, query] of Object.entries(left)) {
    if (session in known) continue;
    await putTask({ ...newTask({ session, query, tab: -1 }), ...ended('failed', CLOSED) });
    const path = `/v1/sessions/${encodeURIComponent(session)}/commands`;
    await ask({ path, body: { type: 'turn.cancel' } }).catch(() => undefined);
  }
  await rememberUnfinished();
}
