/**
 * Measures the rows of one table: each job in its own process, or together with those it is compared with.
 */
import { isPeer } from './contestants/index.ts';
import { median } from './measure/percentile.ts';
import { PATIENCE_MS, runJob, runTogether } from './run-job.ts';
import type { Figures, Job, Outcome, Progress, Row, Table } from './tables/table.ts';

export type Plan = {
  readonly quick: boolean;
  /** time limit; jobs beyond it are skipped and reported */
  readonly deadline: number;
  readonly measuredOn: string;
  /** a second checkout to measure alongside this one */
  readonly against: string | null;
  readonly progress: Progress;
};

const LEFT_OUT: Outcome = { figures: null, absent: 'left out: a quick run ends in under a minute' };
/** How often a job that is measured alone runs in each checkout. */
const REPEATS = 3;

export async function measureTable(table: Table, plan: Plan): Promise<readonly Row[]> {
  if (plan.against !== null && table.withinCheckout) return [];
  const jobs: Job[] = table
    .jobs(plan.quick)
    .filter(({ subject }) => plan.against === null || !isPeer(subject))
    .map((job) => ({ ...job, table: table.name, quick: plan.quick }));
  const rows: Row[] = [];
  for (const group of groupsOf(table, jobs)) rows.push(...(await measureGroup(table, group, plan)));
  return table.derive?.(rows) ?? rows;
}

/** Jobs of the same size that can be measured together form a group; every other job is its own. */
function groupsOf({ together }: Table, jobs: readonly Job[]): readonly (readonly Job[])[] {
  const bySize = Map.groupBy(jobs, (job) => (together?.takes(job) ? job.size : job));
  return [...bySize.values()];
}

async function measureGroup(table: Table, group: readonly Job[], plan: Plan): Promise<readonly Row[]> {
  const [first] = group;
  if (!first) return [];
  const place = `${table.name}: ${group.map(({ subject }) => subject).join(' | ')}, ${first.size} ${table.unit}`;
  if (!process.stderr.isTTY) console.error(place);
  const run = {
    progress: (text: string) => plan.progress(`${place}: ${text}`),
    patienceMs: patienceOf(plan),
  };
  if (run.patienceMs <= 0) return group.map((job) => ({ ...job, ...LEFT_OUT, measuredOn: plan.measuredOn }));
  const { against } = plan;
  const apart = against !== null && !table.together?.takes(first);
  const jobs = against === null ? group : group.flatMap((job) => [job, { ...job, checkout: against }]);
  const outcomes = apart
    ? await alternated(first, against, run)
    : table.together?.takes(first)
      ? await runTogether(jobs, run)
      : [await runJob(first, run)];
  const late = Date.now() >= plan.deadline;
  return jobs.map((job, index) => {
    const outcome = outcomes[index] ?? { figures: null, absent: 'failed: no outcome' };
    return {
      ...job,
      ...(late && outcome.figures === null ? LEFT_OUT : outcome),
      measuredOn: plan.measuredOn,
    };
  });
}

const patienceOf = ({ deadline }: Plan): number => Math.min(PATIENCE_MS, deadline - Date.now());

type Running = { readonly progress: Progress; readonly patienceMs: number };

/** Each checkout measures with its own benchmark, alternating; the median of each figure is used. */
async function alternated(job: Job, against: string, run: Running): Promise<readonly Outcome[]> {
  const ours: Outcome[] = [];
  const theirs: Outcome[] = [];
  for (let round = 0; round < REPEATS; round++) {
    const turns = [
      async () => ours.push(await runJob(job, run)),
      async () => theirs.push(await runJob(job, { ...run, checkout: against })),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  return [medianOf(ours), medianOf(theirs)];
}

function medianOf(outcomes: readonly Outcome[]): Outcome {
  const measured = outcomes.flatMap(({ figures }) => (figures ? [figures] : []));
  const [first] = measured;
  if (!first) return outcomes[0] ?? LEFT_OUT;
  const figures: Figures = Object.fromEntries(
    Object.entries(first).map(([key, figure]) => [
      key,
      typeof figure === 'number' ? median(measured.map((each) => Number(each[key]))) : figure,
    ]),
  );
  return { figures, absent: null };
}
