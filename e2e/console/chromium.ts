/** Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

export const PROGRAM = '/usr/bin/chromium';
const ROOT = join(import.meta.dir, '../..');

/** Without a browser, tests that need one are skipped; CI must have one. */
export const NO_BROWSER = !existsSync(PROGRAM) && !process.env.CI;

/** Test containers have no user namespaces for the browser's sandbox, and the page is our own. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu'] });

/** `npm test` builds the console; this is for running a single file. */
export async function buildConsole(): Promise<void> {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const build = Bun.spawn(['sh', join(ROOT, 'scripts/build-if-stale')], {
    env: { ...process.env, PATH: path },
    stdout: 'ignore',
    stderr: 'inherit',
  });
  await build.exited;
}
