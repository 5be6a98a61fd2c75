/**
 * Runs jobs in separate load generators, so that no row is measured by a process warmed up by another one.
 */
import { join } from 'node:path';
import { inRepository, linesOf } from './contestants/contestant.ts';
import { MANY_REQUESTS } from './contestants/floor.ts';
import { ENDED_EARLY, type Figures, type Job, type Outcome, type Progress } from './tables/table.ts';

/** Longer than any successful job. */
export const PATIENCE_MS = 15 * 60_000;

type Line = {
  readonly progress?: string;
  readonly outcomes?: readonly Outcome[];
  readonly figures?: Figures;
  readonly absent?: string;
  readonly failed?: string;
};

export type Run = {
  readonly progress: Progress;
  /** a job that takes longer is killed with all its processes */
  readonly patienceMs?: number;
  /** folder whose benchmark is used */
  readonly checkout?: string;
};

export async function runJob(job: Job, run: Run): Promise<Outcome> {
  const [outcome] = await measured(job, 1, run);
  return outcome as Outcome;
}

/** Measures several jobs of a table in one process; returns one outcome per job, in order. */
export const runTogether = (jobs: readonly Job[], run: Run): Promise<readonly Outcome[]> =>
  measured({ jobs }, jobs.length, run);

async function measured(
  work: Job | { readonly jobs: readonly Job[] },
  count: number,
  { progress, patienceMs = PATIENCE_MS, checkout = inRepository('.') }: Run,
): Promise<readonly Outcome[]> {
  const program = join(checkout, 'bench/measure-job.ts');
  const child = Bun.spawn([process.execPath, program, JSON.stringify(work)], {
    env: { ...process.env, ...MANY_REQUESTS },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: patienceMs,
  });
  const errors = child.stderr.text();
  const all = (absent: string) => Array.from({ length: count }, () => ({ figures: null, absent }));
  let outcomes: readonly Outcome[] | null = null;
  for await (const text of linesOf(child.stdout)) {
    const line = JSON.parse(text) as Line;
    if (line.progress !== undefined) progress(line.progress);
    if (line.outcomes) outcomes = line.outcomes;
    if (line.figures) outcomes = [{ figures: line.figures, absent: null }];
    if (line.absent !== undefined) outcomes = all(line.absent);
    if (line.failed !== undefined) outcomes = all(`failed: ${line.failed}`);
  }
  await child.exited;
  if (outcomes) return outcomes;
  const ended = child.signalCode !== null || child.exitCode === ENDED_EARLY;
  return all(`failed: ${ended ? 'it took too long' : (await errors).trim().slice(-300)}`);
}
