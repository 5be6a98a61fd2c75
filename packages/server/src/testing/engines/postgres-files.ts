/**
 * The files of an empty PostgreSQL server. `npm test` provides a folder in which the first caller leaves a copy
 * for the others: `initdb` takes three times as long as copying.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** No sync: the machine does not crash during a test. Small log segments: each is written with zeros first. */
const OPTIONS = '-A trust -E UTF8 --locale=C.UTF-8 --no-sync --wal-segsize=1'.split(' ');

export function createFiles(data: string, initdb: readonly string[]): void {
  const shared = process.env.PARLANCE_TEST_FOLDER;
  const template = shared === undefined ? null : join(shared, 'postgres');
  if (template !== null && existsSync(template)) {
    run('cp', '-a', template, data);
    return;
  }
  run(...initdb, ...OPTIONS, '-D', data);
  if (template !== null) share(data, template);
}

function share(data: string, template: string): void {
  const copy = `${template}-${process.pid}`;
  run('cp', '-a', data, copy);
  try {
    renameSync(copy, template);
  } catch {
    // Another process was faster.
    rmSync(copy, { recursive: true });
  }
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stderr: 'pipe' });
  if (!success) throw new Error(`${command.join(' ')} failed: ${stderr.toString()}`);
}
