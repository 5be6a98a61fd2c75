/** Runs tasks one after the other, each in its own tab. */
import type { Site } from '../../../packages/extension/testing/site.ts';
import type { TaskBrowser } from './browser.ts';
import type { Task } from './task.ts';

export async function runTask(browser: TaskBrowser, site: Site, task: Task): Promise<void> {
  const page = await browser.open(`${site.url}/${task.page}`);
  try {
    const ended = await browser.run(page, task.query, task.allow);
    await task.check(page, ended);
  } finally {
    for (const each of browser.extension.context.pages())
      if (each.url().startsWith(site.url)) await each.close();
  }
}

/** `ALL_TASKS` runs every task: `npm run test:extension`. */
export const chosen = <One extends Task>(tasks: readonly One[]): readonly One[] =>
  process.env.ALL_TASKS ? tasks : tasks.filter(({ quick }) => quick);
