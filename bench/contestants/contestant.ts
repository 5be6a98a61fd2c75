/** Contestants and their shared code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The subject cannot be measured: reported with its reason, never as zero. */
export class Absent extends Error {
  override readonly name = 'Absent';
}

/** One conversation with the server: sends a prompt and receives the pieces of one answer. */
export type Lane = {
  /**
   * `onText` is called with every piece of text as it arrives; resolves when the server has ended the answer.
   */
  ask(onText: (text: string, arrivedAt: number) => void): Promise<void>;
  close(): void;
};

export type Running = {
  /** root of the server's process tree */
  readonly pid: number;
  /** further processes that count as part of it */
  readonly others?: readonly number[];
  /** a connected lane with its own conversation */
  lane(): Promise<Lane>;
  stop(): Promise<void>;
};

export type Contestant = {
  readonly name: string;
  /** description, with its version */
  readonly description: string;
  /** too slow for 500 streams, where a round would take minutes, and for the full number of rounds */
  readonly slow?: boolean;
  /** Resolves when ready. Throws `Absent` if it cannot run here. `folder` is empty and exclusive. */
  start(upstream: string, folder: string): Promise<Running>;
};

const BENCH = join(import.meta.dir, '..');
export const inBench = (path: string): string => join(BENCH, path);
export const inRepository = (path: string): string => join(BENCH, '..', path);

/** Path of a file in a package of the benchmark; throws `Absent` if the package is not installed. */
export function installed(path: string): string {
  const found = inBench(join('node_modules', path));
  if (!existsSync(found)) throw new Absent(`${path} is not installed: npm install --prefix bench`);
  return found;
}

export async function versionOf(name: string): Promise<string> {
  const file = Bun.file(inBench(join('node_modules', name, 'package.json')));
  return (await file.exists()) ? ((await file.json()) as { version: string }).version : 'not installed';
}

/** Processes killed when this process exits. */
const started = new Set<{ kill(signal: 'SIGKILL'): void }>();
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

/** Returns a function that stops the process and resolves when it has exited. */
export function owned(child: Bun.Subprocess): () => Promise<void> {
  started.add(child);
  return async () => {
    child.kill('SIGKILL');
    await child.exited;
    started.delete(child);
  };
}

type Started = {
  readonly pid: number;
  /** lines of its standard output, the first one already read */
  readonly first: string;
  stop(): Promise<void>;
};

/** Starts a server and waits for the first line of output that `ready` accepts. */
export async function startServer(
  command: readonly string[],
  options: {
    /** its home folder, which also contains its stderr */
    readonly folder: string;
    readonly cwd?: string;
    readonly env?: Record<string, string>;
    readonly ready?: RegExp;
  },
): Promise<Started> {
  const errors = join(options.folder, 'stderr.log');
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? options.folder,
    env: { PATH: process.env.PATH ?? '', HOME: options.folder, ...options.env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: Bun.file(errors),
  });
  const stop = owned(child);
  const lines = linesOf(child.stdout);
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    if (!(options.ready ?? /./).test(line.value)) continue;
    void drain(lines);
    return { pid: child.pid, first: line.value, stop };
  }
  await stop();
  throw new Error(`${command.join(' ')} did not start: ${(await Bun.file(errors).text()).slice(-500)}`);
}

/** Reads and drops later output, since a full pipe would block the process. */
async function drain(lines: AsyncGenerator<string>): Promise<void> {
  for await (const _ of lines);
}

export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      yield text.slice(from, end);
      from = end + 1;
    }
    text = text.slice(from);
  }
}
