/** Builds the extension for the tests. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const CHROMIUM = '/usr/bin/chromium';
const ROOT = join(import.meta.dir, '../..');
export const EXTENSION = join(ROOT, 'packages/extension/dist');

/** Without a browser, tests that need one are skipped; CI must have one. */
export const NO_BROWSER = !existsSync(CHROMIUM) && !process.env.CI;

/** `npm test` builds it; this is for running a single file. */
export async function buildExtension(): Promise<void> {
  if (process.env.PARLANCE_TEST_FOLDER) return;
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const build = Bun.spawn(['sh', join(ROOT, 'scripts/build-if-stale')], {
    env: { ...process.env, PATH: path },
    stdout: 'ignore',
    stderr: 'inherit',
  });
  await build.exited;
}
