/**
 * The load generator, in its own process. `bun measure-job.ts JOB`, or `{"jobs": [JOB, …]}`, prints JSON
 * lines.
 */
import { Absent } from './contestants/contestant.ts';
import { TABLES } from './tables/index.ts';
import { ENDED_EARLY, type Job, type Progress, type Table } from './tables/table.ts';

const work = JSON.parse(process.argv[2] ?? '{}') as Job | { readonly jobs: readonly Job[] };
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const progress: Progress = (text) => say({ progress: text });

// Makes the servers it started exit as well.
process.on('SIGTERM', () => process.exit(ENDED_EARLY));

function tableOf(job: Job | undefined): Table {
  const table = TABLES.find(({ name }) => name === job?.table);
  if (!table) throw new Error(`there is no table ${job?.table}`);
  return table;
}

try {
  if ('jobs' in work) say({ outcomes: await tableOf(work.jobs[0]).together?.measure(work.jobs, progress) });
  else say({ figures: await tableOf(work).measure(work, progress) });
} catch (error) {
  say(error instanceof Absent ? { absent: error.message } : { failed: String(error) });
}
process.exit(0);
