/** Extracts the readable part of a page as Markdown, in a separate process: see `reader.ts`. */
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { programIn } from '../program.ts';
import { READ_MS, READER_KILOBYTES, READERS } from './limits.ts';
import { Slots } from './slots.ts';

const Readable = z.object({ title: z.string(), text: z.string() });
export type Readable = z.output<typeof Readable>;

const UNREADABLE = 'The page could not be converted to text.';
const WATCH_MS = 100;
const slots = new Slots(READERS);

/** Throws a `Fault` if reading takes too much time or memory. At most `READERS` run concurrently; others wait. */
export async function readable(html: string, base: URL, signal: AbortSignal): Promise<Readable> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
  const leave = await slots.enter(deadline);
  try {
    return Readable.parse(JSON.parse(await runReader(html, base, deadline)));
  } catch (cause) {
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    throw new Fault('tool_failed', UNREADABLE, { cause });
  } finally {
    leave();
  }
}

async function runReader(html: string, base: URL, signal: AbortSignal): Promise<string> {
  const { command, env, cwd } = programIn(import.meta.dir, 'reader');
  const reader = Bun.spawn([...command, base.href], {
    cwd,
    env,
    stdin: new Blob([html]),
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const kill = () => reader.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const watch = setInterval(async () => {
    if ((await memoryOf(reader.pid)) > READER_KILOBYTES) kill();
  }, WATCH_MS);
  try {
    return await new Response(reader.stdout).text();
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', kill);
    kill();
    await reader.exited;
  }
}

/** In kilobytes; 0 if the system does not report it, in which case only time is limited. */
async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`)
    .text()
    .catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
