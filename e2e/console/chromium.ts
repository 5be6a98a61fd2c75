/** Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { waitLimit } from '../../packages/server/src/testing/until.ts';

export const CHROMIUM = '/usr/bin/chromium';
/** The same browser without windows, extensions and notifications: a page takes a third of the processor time. */
const SHELL = '/usr/lib/chromium/chromium-headless-shell';
export const PROGRAM = existsSync(SHELL) ? SHELL : CHROMIUM;
const ROOT = join(import.meta.dir, '../..');

/** Without a browser, tests that need one are skipped; CI must have one. */
export const NO_BROWSER = !existsSync(PROGRAM) && !process.env.CI;

/** Pages of the address bar: every window would load them, which takes a second of processor time. */
const ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];
/** The list of Playwright, which another one replaces: nothing is asked of other hosts, and nothing is delayed. */
const PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/** Test containers have no user namespaces for the browser's sandbox, and the page is our own. */
export const ARGUMENTS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  `--disable-features=${[...PLAYWRIGHT, ...ADDRESS_BAR].join(',')}`,
];

async function launch(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: [...ARGUMENTS], timeout: waitLimit() });
  return browser.on('context', (context) => context.setDefaultTimeout(waitLimit()));
}

export const launchBrowser = (): Promise<Browser> => launch(PROGRAM);
/** As users have it: for notifications, and for frames, which the shell draws more slowly. */
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
