/** Reads matches from a search process, and stops it after enough matches. */
import { Fault } from '@parlance/protocol';

export type SearchCommand = {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

export type Match = {
  readonly path: string;
  /** "number:text" */
  readonly line: string;
};

/** Throws a `Fault` for an invalid pattern, after `timeoutMs`, and when `signal` is aborted. */
export async function* matchesOf(
  { argv, folder, env }: SearchCommand,
  signal: AbortSignal,
  timeoutMs: number,
): AsyncGenerator<Match> {
  if (signal.aborted) throw new Fault('cancelled', 'aborted');
  let late = false;
  const child = Bun.spawn([...argv], {
    cwd: folder,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const kill = () => child.kill('SIGKILL');
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  try {
    for await (const line of linesOf(child.stdout)) {
      const separator = line.indexOf('\0');
      if (separator > 0) yield { path: line.slice(0, separator), line: line.slice(separator + 1) };
    }
    const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    if (late) throw new Fault('tool_failed', `The search took longer than ${timeoutMs / 1_000} s.`);
    if (code === 2 && stderr.trim() !== '') {
      throw new Fault('tool_invalid', `The search failed: ${stderr.trim().slice(0, 500)}`);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    kill();
    await child.exited;
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
