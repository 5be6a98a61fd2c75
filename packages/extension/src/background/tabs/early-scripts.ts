/**
 * On sites that are allowed, the script of the page's own world runs before those of the page, so that it knows every listener.
 * It does nothing else until a task begins there.
 */
import { isOwnServer } from '../../shared/own-server.ts';
import { isRunning } from '../../shared/records.ts';
import { sites, tasks } from '../../shared/storage.ts';

const SCRIPT = 'page-world';
/** Origins that a match pattern can name. */
const PLAIN = /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/;

let queue: Promise<unknown> = Promise.resolve();

/** Called when a permission or a task changes. */
export function registerEarly(): void {
  queue = queue.then(register).catch((thrown) => console.warn('page script not registered:', thrown));
}

async function register(): Promise<void> {
  const matches = await patterns();
  const ids = [SCRIPT];
  const [now] = await chrome.scripting.getRegisteredContentScripts({ ids });
  if (matches.join() === (now?.matches ?? []).toSorted().join()) return;
  if (now) await chrome.scripting.unregisterContentScripts({ ids });
  if (matches.length === 0) return;
  await chrome.scripting.registerContentScripts([
    {
      id: SCRIPT,
      js: ['page-world.js'],
      matches,
      allFrames: true,
      runAt: 'document_start',
      world: 'MAIN',
    },
  ]);
}

async function patterns(): Promise<string[]> {
  const allowed = Object.entries(await sites.get()).flatMap(([site, choice]) =>
    choice === 'allow' ? [site] : [],
  );
  const running = Object.values(await tasks.get()).filter(isRunning);
  const origins = new Set([...allowed, ...running.flatMap((task) => task.allowed)]);
  const matches: string[] = [];
  for (const origin of origins)
    if (PLAIN.test(origin) && !(await isOwnServer(origin))) matches.push(`${origin}/*`);
  return matches.sort();
}
