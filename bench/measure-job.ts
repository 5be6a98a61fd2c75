/** Measures one row, as a process of its own: the load generator. `bun measure-job.ts JOB` prints lines of JSON. */
import { Absent } from './contestants/contestant.ts';
import { TABLES } from './tables/index.ts';
import { ENDED_EARLY, type Job } from './tables/table.ts';

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

// So that the servers it started end with it.
process.on('SIGTERM', () => process.exit(ENDED_EARLY));

const table = TABLES.find(({ name }) => name === job.table);
if (!table) throw new Error(`there is no table ${job.table}`);
try {
  say({ figures: await table.measure(job, (progress) => say({ progress })) });
} catch (error) {
  say(error instanceof Absent ? { absent: error.message } : { failed: String(error) });
}
process.exit(0);
