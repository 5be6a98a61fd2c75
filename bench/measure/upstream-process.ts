/** The fake upstream, in its own process. */
import { inBench, linesOf, owned } from '../contestants/contestant.ts';

export type Upstream = { readonly url: string; stop(): Promise<void> };

/** Tokens are their number and the time, which tables of delays need, or those of an answer in Markdown. */
export async function startUpstream(
  tokens: number,
  intervalMs: number,
  text: 'numbers' | 'markdown' = 'numbers',
): Promise<Upstream> {
  const command = [process.execPath, inBench('upstream.ts'), String(tokens), String(intervalMs), text];
  const child = Bun.spawn(command, {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const stop = owned(child);
  const first = await linesOf(child.stdout).next();
  if (first.done) throw new Error('the upstream did not start');
  return { url: `http://127.0.0.1:${first.value}`, stop };
}
