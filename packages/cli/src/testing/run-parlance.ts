/** Runs the command line as a process, for tests. */
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../../../..');
const parlanceOf = (checkout: string) => join(checkout, 'packages/cli/bin/parlance');
export const PARLANCE = parlanceOf(ROOT);

export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type RunOptions = {
  readonly env?: Record<string, string>;
  readonly cwd: string;
  readonly input?: string;
  /** the folder of another version; default: this one */
  readonly checkout?: string | undefined;
};

/** The environment contains only the given variables. */
export const spawnParlance = (args: readonly string[], options: RunOptions) =>
  spawn(['sh', parlanceOf(options.checkout ?? ROOT), ...args], options);

/** Runs a script instead of the command line, in the same way. */
export const spawnScript = (script: string, options: RunOptions) =>
  spawn([process.execPath, script], options);

function spawn(command: string[], { env = {}, cwd, input = '' }: RunOptions) {
  return Bun.spawn(command, {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

export async function runParlance(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const child = spawnParlance(args, options);
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, stdout, stderr };
}
