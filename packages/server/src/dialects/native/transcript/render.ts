/** Renders Markdown in a separate process, with limits: see `renderer.ts`. */
import { Fault } from '@parlance/protocol';
import { programIn, runProgram } from '../../../lib/program.ts';

/** Longer texts are not rendered, nor is what follows when a page has this much. */
const TEXT_CHARACTERS = 256 * 1024;
const PAGE_CHARACTERS = 8 * 1024 * 1024;
/** Per page, including the start of the process. */
const RENDER_MS = 10_000;
const RENDERER_KILOBYTES = 512 * 1024;
const MAX_WAITING = 16;
const RETRY_MS = 5_000;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * The HTML of each text; null for those beyond the limits of size and time, which the caller shows as they
 * are. One page is rendered at a time. Throws `overloaded` if too many wait.
 */
export async function renderMarkdown(
  texts: readonly string[],
  milliseconds = RENDER_MS,
): Promise<(string | null)[]> {
  if (texts.length === 0) return [];
  if (waiting >= MAX_WAITING)
    throw new Fault('overloaded', 'Too many pages are being prepared; try again later.', {
      retryAfterMs: RETRY_MS,
    });
  waiting++;
  const rendered = last.then(() => run(texts, milliseconds)).finally(() => waiting--);
  last = Promise.allSettled([rendered]);
  return rendered;
}

async function run(texts: readonly string[], milliseconds: number): Promise<(string | null)[]> {
  let characters = 0;
  const lines = texts.map((text) => {
    if (text.length > TEXT_CHARACTERS || characters + text.length > PAGE_CHARACTERS) return 'null\n';
    characters += text.length;
    return `${JSON.stringify(text)}\n`;
  });
  const output = await runProgram(programIn(import.meta.dir, 'renderer'), {
    input: lines.join(''),
    signal: AbortSignal.timeout(milliseconds),
    maxKilobytes: RENDERER_KILOBYTES,
  });
  // A line without an end was cut off when the process was killed.
  const results = output.split('\n').slice(0, -1);
  return texts.map((_, index) => JSON.parse(results[index] ?? 'null') as string | null);
}
