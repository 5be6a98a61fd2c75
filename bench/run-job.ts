/** Runs one job in a load generator of its own, so that no row is measured by a process that another one has warmed. */
import { inBench, linesOf } from './contestants/contestant.ts';
import { MANY_REQUESTS } from './contestants/floor.ts';
import { ENDED_EARLY, type Figures, type Job, type Progress } from './tables/table.ts';

export type Outcome = { readonly figures: Figures | null; readonly absent: string | null };

/** Longer than any job that works. */
export const PATIENCE_MS = 15 * 60_000;

type Line = {
  readonly progress?: string;
  readonly figures?: Figures;
  readonly absent?: string;
  readonly failed?: string;
};

/** A job that takes longer than `patienceMs` is ended, with all that it started. */
export async function runJob(job: Job, progress: Progress, patienceMs = PATIENCE_MS): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, inBench('measure-job.ts'), JSON.stringify(job)], {
    env: { ...process.env, ...MANY_REQUESTS },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: patienceMs,
  });
  const errors = child.stderr.text();
  let outcome: Outcome | null = null;
  for await (const text of linesOf(child.stdout)) {
    const line = JSON.parse(text) as Line;
    if (line.progress !== undefined) progress(line.progress);
    if (line.figures) outcome = { figures: line.figures, absent: null };
    if (line.absent !== undefined) outcome = { figures: null, absent: line.absent };
    if (line.failed !== undefined) outcome = { figures: null, absent: `failed: ${line.failed}` };
  }
  await child.exited;
  if (outcome) return outcome;
  const ended = child.signalCode !== null || child.exitCode === ENDED_EARLY;
  const reason = ended ? 'it took too long' : (await errors).trim().slice(-300);
  return { figures: null, absent: `failed: ${reason}` };
}
