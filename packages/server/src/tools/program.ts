import { join } from 'node:path';
import { isCompiled } from '../lib/compiled.ts';

/** Sources are run directly; the build puts all programs in one folder. */
const ENDING = import.meta.path.endsWith('.ts') ? 'ts' : 'js';

/** Names the program to run instead of the command line, in the environment of the single executable. */
export const PROGRAM_VARIABLE = 'PARLANCE_PROGRAM';

export type Program = {
  /** starts it; its arguments follow */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A folder of our own: the runtime would run code that a bunfig.toml in the current folder names. */
  readonly cwd: string;
};

/** A program that runs as a separate process: pass `import.meta.dir` and its name. */
export function programIn(folder: string, name: string): Program {
  const env = { PATH: process.env.PATH ?? '' };
  if (isCompiled) return { command: [process.execPath], env: { ...env, [PROGRAM_VARIABLE]: name }, cwd: '/' };
  const runtime = [process.execPath, '--config=/dev/null', '--no-env-file', '--smol'];
  return { command: [...runtime, join(folder, `${name}.${ENDING}`)], env, cwd: folder };
}
