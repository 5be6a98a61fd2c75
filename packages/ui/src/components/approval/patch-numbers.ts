/** Line numbers of a patch, from where its hunks match the file. Pure. */
import type { PatchedFile, Run } from './patch-rows.ts';

/** A run with the numbers of its first line before and after the patch; null where they are not known. */
export type NumberedRun = {
  readonly run: Run;
  readonly before: number | null;
  readonly after: number | null;
};

/** Runs below one header, or below several that follow each other. */
type Hunk = { readonly runs: readonly Run[]; readonly start: number | undefined };

/** `starts`: the line of the file at which each hunk of an update begins, from 1 */
export function numberedRuns({ change, runs }: PatchedFile, starts: readonly number[] = []): NumberedRun[] {
  if (change === 'add') return counted(runs, null, 1);
  if (change === 'delete') return counted(runs, 1, null);
  const hunks = hunksOf(runs).map((group, index): Hunk => ({ runs: group, start: starts[index] }));
  return hunks.flatMap(({ runs: group, start }) =>
    start === undefined ? counted(group, null, null) : counted(group, start, start + shiftAt(hunks, start)),
  );
}

/** How many lines the hunks above add. */
const shiftAt = (hunks: readonly Hunk[], line: number): number =>
  hunks
    .filter(({ start }) => start !== undefined && start < line)
    .flatMap(({ runs }) => runs)
    .reduce((sum, run) => sum + linesAfter(run) - linesBefore(run), 0);

function hunksOf(runs: readonly Run[]): Run[][] {
  const hunks: Run[][] = [];
  let last: Run['kind'] | null = null;
  for (const run of runs) {
    const begins = run.kind === 'hunk' ? last !== 'hunk' : last === null;
    if (begins) hunks.push([run]);
    else hunks.at(-1)?.push(run);
    last = run.kind;
  }
  return hunks;
}

function counted(runs: readonly Run[], before: number | null, after: number | null): NumberedRun[] {
  let [old, next] = [before, after];
  return runs.map((run) => {
    const numbered = { run, before: old, after: next };
    old = old === null ? null : old + linesBefore(run);
    next = next === null ? null : next + linesAfter(run);
    return numbered;
  });
}

const linesBefore = (run: Run): number =>
  run.kind === 'keep' ? run.lines.length : run.kind === 'change' ? run.removed.length : 0;

const linesAfter = (run: Run): number =>
  run.kind === 'keep' ? run.lines.length : run.kind === 'change' ? run.added.length : 0;
