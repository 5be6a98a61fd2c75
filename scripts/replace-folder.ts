import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Builds a folder beside `folder` and puts it in its place at once, so that a running server always has a complete one. Another
 * build may run at the same time: the last one wins.
 */
export async function replaceFolder(folder: string, build: (next: string) => Promise<void>): Promise<void> {
  const next = join(dirname(folder), `.${basename(folder)}-${process.pid}`);
  const last = `${next}-last`;
  try {
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next, { recursive: true });
    await build(next);
    for (let attempts = 0; ; attempts++) {
      rmSync(last, { recursive: true, force: true });
      try {
        if (existsSync(folder)) renameSync(folder, last);
        renameSync(next, folder);
        return;
      } catch (thrown) {
        if (attempts >= 10) throw thrown;
      }
    }
  } finally {
    for (const left of [next, last]) rmSync(left, { recursive: true, force: true });
  }
}
