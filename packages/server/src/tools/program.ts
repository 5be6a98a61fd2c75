import { join } from 'node:path';
import { isCompiled } from '../lib/compiled.ts';

/** Sources are run directly; the build puts all programs in one folder. */
const ENDING = import.meta.path.endsWith('.ts') ? 'ts' : 'js';

/** Environment variable that makes the single executable run this program instead of the command line. */
export const PROGRAM_VARIABLE = 'PARLANCE_PROGRAM';

export type Program = {
  /** starts it; its arguments follow */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Our own folder: the runtime would run code named in a bunfig.toml of the current folder. */
  readonly cwd: string;
};

/** A program that runs as a separate process: pass `import.meta.dir` and its name. */
export function programIn(folder: string, name: string): Program {
  const env = { PATH: process.env.PATH ?? '' };
  if (isCompiled) return { command: [process.execPath], env: { ...env, [PROGRAM_VARIABLE]: name }, cwd: '/' };
  const runtime = [process.execPath, '--config=/dev/null', '--no-env-file', '--smol'];
  return { command: [...runtime, join(folder, `${name}.${ENDING}`)], env, cwd: folder };
}
