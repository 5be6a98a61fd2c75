/** Runs a command with all its child processes: limited in time and output, and stopped as a whole. */
import { constants } from 'node:os';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { CappedOutput } from './capped-output.ts';
import { killStragglers, newMark } from './kill-stragglers.ts';
import { type CommandLimits, watchLimits } from './limits.ts';

export type Run = {
  readonly argv: readonly string[];
  readonly workdir: string;
  readonly environment: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** it has its own process namespace, which ends with it */
  readonly isolated: boolean;
  readonly limits?: CommandLimits | undefined;
};

export type Ended = {
  readonly reason: 'exited' | 'timeout' | 'aborted' | 'limit';
  /** which limit was reached, as the end of a sentence */
  readonly limit?: string;
  readonly exitCode: number;
  readonly output: string;
  readonly durationMs: number;
};

/** How long a process that left the group may keep the output open after the command has ended. */
const DRAIN_MS = 1_000;
const TIMEOUT_EXIT_CODE = 124;

/** Without core dumps, and the first to be killed if the memory of the machine ends. */
const PREPARE = 'ulimit -c 0; { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null';

/** Joins both outputs in write order. */
export const withJoinedOutput = (argv: readonly string[]): string[] => [
  ...['/bin/sh', '-c', `${PREPARE}; exec "$@" 2>&1`, 'sh'],
  ...argv,
];

/** Resolves when no process of the command is running any more, also after a timeout or an abort. */
export async function runProcess(run: Run): Promise<Ended> {
  const started = performance.now();
  const mark = newMark();
  const child = start({ ...run, environment: { ...run.environment, ...mark.environment } });
  let reason = 'exited' as Ended['reason'];
  const stop = (why: Ended['reason']) => {
    if (reason === 'exited') reason = why;
    // Before the group: processes that left it are harder to find once their parents are dead. Bubblewrap may
    // die before it has tied the inner processes to its own lifetime.
    killStragglers(mark, child.pid);
    killGroup(child.pid);
  };
  let limit: string | undefined;
  const unwatch = run.limits
    ? watchLimits(child.pid, { limits: run.limits, folder: run.workdir }, (reached) => {
        limit = reached;
        // At once: looking for every process of a fork bomb takes longer than it needs to start more.
        killGroup(child.pid);
        stop('limit');
      })
    : () => undefined;
  const timer = setTimeout(() => stop('timeout'), run.timeoutMs);
  const abort = () => stop('aborted');
  run.signal.addEventListener('abort', abort, { once: true });
  if (run.signal.aborted) abort();
  const output = new CappedOutput();
  const drained = drain(child.stdout, output);
  try {
    await child.exited;
  } finally {
    clearTimeout(timer);
    unwatch();
    run.signal.removeEventListener('abort', abort);
    killGroup(child.pid);
    if (!run.isolated || reason !== 'exited') killStragglers(mark, child.pid);
  }
  await drained.within(DRAIN_MS);
  return {
    reason,
    ...(limit === undefined ? {} : { limit }),
    exitCode: reason === 'timeout' ? TIMEOUT_EXIT_CODE : exitCodeOf(child),
    output: output.text(),
    durationMs: performance.now() - started,
  };
}

function start({ argv, workdir, environment }: Run) {
  try {
    return Bun.spawn([...argv], {
      cwd: workdir,
      env: environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      detached: true,
    });
  } catch (cause) {
    throw new Fault('tool_failed', 'The command could not be started.', { cause });
  }
}

function drain(stream: ReadableStream<Uint8Array>, output: CappedOutput) {
  const reader = stream.getReader();
  const done = (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      output.push(value);
    }
  })();
  return {
    async within(ms: number): Promise<void> {
      const timer = setTimeout(() => void reader.cancel(), ms);
      await done.finally(() => clearTimeout(timer));
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    // ESRCH: all gone. EPERM: the rest belongs to another user and cannot be killed.
    const code = errorCode(thrown);
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown;
  }
}

function exitCodeOf({ exitCode, signalCode }: Bun.Subprocess): number {
  const signals: Record<string, number> = constants.signals;
  return exitCode ?? 128 + (signals[signalCode ?? ''] ?? 0);
}
