/** The fake upstream, in its own process. */
import { inBench, linesOf, owned } from '../contestants/contestant.ts';

export type Upstream = { readonly url: string; stop(): Promise<void> };

export async function startUpstream(tokens: number, intervalMs: number): Promise<Upstream> {
  const child = Bun.spawn([process.execPath, inBench('upstream.ts'), String(tokens), String(intervalMs)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const stop = owned(child);
  const first = await linesOf(child.stdout).next();
  if (first.done) throw new Error('the upstream did not start');
  return { url: `http://127.0.0.1:${first.value}`, stop };
}
