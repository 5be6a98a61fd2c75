/** Extracts the readable part of a page as Markdown, in a separate process: see `reader.ts`. */
import { Fault } from '@parlance/protocol';
import { z } from 'zod';
import { programIn, runProgram } from '../../lib/program.ts';
import { READ_MS, READER_KILOBYTES, READERS } from './limits.ts';
import { Slots } from './slots.ts';

const Readable = z.object({ title: z.string(), text: z.string() });
export type Readable = z.output<typeof Readable>;

const UNREADABLE = 'The page could not be converted to text.';
const slots = new Slots(READERS);

/** Throws a `Fault` if reading takes too much time or memory. At most `READERS` run concurrently; others wait. */
export async function readable(html: string, base: URL, signal: AbortSignal): Promise<Readable> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
  const leave = await slots.enter(deadline);
  try {
    const run = { args: [base.href], input: html, signal: deadline, maxKilobytes: READER_KILOBYTES };
    return Readable.parse(JSON.parse(await runProgram(programIn(import.meta.dir, 'reader'), run)));
  } catch (cause) {
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    throw new Fault('tool_failed', UNREADABLE, { cause });
  } finally {
    leave();
  }
}
