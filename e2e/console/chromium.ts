/** Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
/** The same browser without windows, extensions and notifications: a page takes a third of the processor time. */
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
export const PROGRAM = existsSync(SHELL) ? SHELL : CHROMIUM;
const ROOT = join(import.meta.dir, '../..');

/** Without a browser, tests that need one are skipped; CI must have one. */
export const NO_BROWSER = !existsSync(PROGRAM) && !process.env.CI;

/** Test containers have no user namespaces for the browser's sandbox, and the page is our own. */
const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });

export const launchBrowser = (): Promise<Browser> => launch(PROGRAM);
/** For pages that show notifications. */
export const launchWholeBrowser = (): Promise<Browser> => launch(CHROMIUM);

/** `npm test` builds the console; this is for running a single file. */
export async function buildConsole(): Promise<void> {
  if (process.env.PARLANCE_TEST_FOLDER) return;
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const build = Bun.spawn(['sh', join(ROOT, 'scripts/build-if-stale')], {
    env: { ...process.env, PATH: path },
    stdout: 'ignore',
    stderr: 'inherit',
  });
  await build.exited;
}
