/** Scripts are injected while a page of a task is still loading: its own dialogs would block it before it can be read. */
import { siteOf } from '../../shared/sites.ts';
import { tasks } from '../../shared/storage.ts';
import { isRunning } from '../../shared/task-record.ts';
import { askPage, inject } from '../tabs/content.ts';
import { mayUse } from './site-permission.ts';

export async function pageLoads(tab: number, address: string | undefined): Promise<void> {
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
