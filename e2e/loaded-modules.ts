/** What a server loads in a process of its own. */
import { join } from 'node:path';
import { spawnScript } from '../packages/cli/src/testing/run-parlance.ts';

type Given = {
  readonly settings: Record<string, string>;
  /** parts of the paths of modules */
  readonly paths: readonly string[];
  readonly message?: string;
};

/** Modules with one of the parts in their path: after the start, and after a message. */
export async function loadedModules(folder: string, { message = 'Hello?', ...given }: Given) {
  const run = spawnScript(join(import.meta.dir, 'loaded-modules-program.ts'), {
    cwd: folder,
    env: { GIVEN: JSON.stringify({ ...given, message }) },
  });
  const [output, errors] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  if ((await run.exited) !== 0) throw new Error(errors);
  return JSON.parse(output) as { atStart: string[]; afterMessage: string[]; answer: string };
}
