/** Whether a task may read and use the page in its tab. */
import { isOwnServer, OWN_SERVER } from '../../shared/own-server.ts';
import { siteName, siteOf } from '../../shared/sites.ts';
import type { TaskRecord } from '../../shared/task-record.ts';
import { askForSite, siteVerdict } from '../permission.ts';
import { changeTask } from './records.ts';

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
