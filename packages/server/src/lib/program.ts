import { join } from 'node:path';
import { isCompiled } from './compiled.ts';

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

const WATCH_MS = 100;

export type ProgramRun = {
  readonly args?: readonly string[];
  readonly input: string;
  /** kills it */
  readonly signal: AbortSignal;
  /** kills it if it uses more memory, where the system reports it */
  readonly maxKilobytes: number;
};

/** Runs a program and resolves with its output, which is incomplete if the program was killed. */
export async function runProgram(program: Program, run: ProgramRun): Promise<string> {
  const { args = [], input, signal, maxKilobytes } = run;
  const { command, env, cwd } = program;
  const child = Bun.spawn([...command, ...args], {
    cwd,
    env,
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const watch = setInterval(async () => {
    if ((await memoryOf(child.pid)) > maxKilobytes) kill();
  }, WATCH_MS);
  try {
    return await new Response(child.stdout).text();
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', kill);
    kill();
    await child.exited;
  }
}

/** In kilobytes; 0 if the system does not report it, in which case only time is limited. */
async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`)
    .text()
    .catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
