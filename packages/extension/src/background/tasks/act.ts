/** One action of a task: permission, what always asks, the action itself, and the report. */
import { type Action, parseAction } from '@parlance/copilot';
import type { Inspection } from '../../messages.ts';
import { reportOf } from '../../report.ts';
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteOf } from '../../shared/sites.ts';
import type { Report, TaskRecord } from '../../shared/task-record.ts';
import { askForAction } from '../permission.ts';
import { askPage } from '../tabs/content.ts';
import { attach, indicate } from '../tabs/page.ts';
import { type Performed, perform } from '../tabs/perform.ts';
import { changeTask } from './records.ts';
import { mayUse } from './site-permission.ts';

export type ActionResult = { readonly report: Report; readonly change: Partial<TaskRecord> };

const NO_WEBSITE = 'Extensions cannot work on this page. Open a website first.';

/** `begin` is called before the action can have any effect. */
export async function act(
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

type InspectedAction = { readonly written: string; readonly inspection: Inspection };

/** A site that was allowed before needs no question for leading there. */
async function confirmed(
  task: TaskRecord,
  inspected: InspectedAction,
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

export const refused = (action: string, code: string, message: string): ActionResult => ({
  report: {
    lastActionStatus: 'failure',
    lastActionError: { message, code, action },
    lastActionResult: { success: false },
    clientObservations: { didNetworkOccur: false, didDomMutate: false, didUrlChange: false },
  },
  change: {},
});
