/** `npm run bench`: measures, prints tables, and writes JSON and the chart. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { inBench, inRepository } from './contestants/contestant.ts';
import { installPeers } from './install.ts';
import { readOptions, USAGE } from './options.ts';
import { chart } from './report/chart.ts';
import { goalsOf, goalsText } from './report/goals.ts';
import { machineLine, machineOf } from './report/machine.ts';
import { tableText } from './report/terminal.ts';
import { PATIENCE_MS, runJob } from './run-job.ts';
import { TABLES } from './tables/index.ts';
import type { Row } from './tables/table.ts';

const options = readOptions(process.argv.slice(2));
if (!options) {
  console.log(USAGE);
  process.exit(0);
}
if (process.platform !== 'linux') {
  console.error('the benchmark reads /proc, so it runs on Linux alone');
  process.exit(1);
}

/** One line that is written over, on a terminal; nothing elsewhere, where lines would pile up. */
const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

// Quick runs take the peers that are there.
if (!options.quick) await installPeers(console.log);
const machine = await machineOf();
const began = new Date();
const measuredOn = `${machineLine(machine)}; ${began.toISOString().slice(0, 10)}`;
console.log(`${measuredOn}\n`);

/** A quick run ends in under a minute on a busy machine too: what it has no time for is left out, and said to be. */
const deadline = options.quick ? began.getTime() + 57_000 : Number.POSITIVE_INFINITY;
const LEFT_OUT = { figures: null, absent: 'left out: a quick run ends in under a minute' };

const rows: Row[] = [];
const tables = TABLES.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
for (const table of tables) {
  const jobs = table.jobs(options.quick);
  const measured: Row[] = [];
  for (const [index, { subject, size }] of jobs.entries()) {
    const job = { table: table.name, subject, size, quick: options.quick };
    const place = `${table.name} ${index + 1}/${jobs.length}: ${subject}, ${size} ${table.unit}`;
    progress(place);
    const patience = Math.min(PATIENCE_MS, deadline - Date.now());
    const tell = (text: string) => progress(`${place}: ${text}`);
    const outcome = patience > 0 ? await runJob(job, tell, patience) : LEFT_OUT;
    const late = outcome.figures === null && Date.now() >= deadline;
    measured.push({ ...job, ...(late ? LEFT_OUT : outcome), measuredOn });
    if (!process.stderr.isTTY) console.error(place);
  }
  progress('');
  if (measured.length > 0) console.log(`${tableText(table, measured)}\n`);
  rows.push(...measured);
}

const goals = goalsOf(rows);
console.log(goalsText(goals));

const out = options.out ?? inBench('results/latest.json');
mkdirSync(dirname(out), { recursive: true });
const seconds = Math.round((Date.now() - began.getTime()) / 1_000);
await Bun.write(
  out,
  `${JSON.stringify({ measuredOn, machine, began, seconds, quick: options.quick, rows, goals }, null, 2)}\n`,
);
console.log(`\n${seconds} s; written to ${out}`);

// The chart that is checked in comes from a whole run alone.
if (!options.quick && options.only.length === 0) {
  await Bun.write(inRepository('docs/bench.svg'), chart(rows, measuredOn));
  console.log('and to docs/bench.svg');
}
