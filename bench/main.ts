/** `npm run bench`: measures, prints tables, and writes JSON and the chart. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { inBench, inRepository } from './contestants/contestant.ts';
import { isPeer } from './contestants/index.ts';
import { installPeers } from './install.ts';
import { measureTable } from './measure-table.ts';
import { readOptions, USAGE } from './options.ts';
import { chart } from './report/chart.ts';
import { type Compared, compared, comparisonText } from './report/comparison.ts';
import { goalsOf, goalsText } from './report/goals.ts';
import { machineLine, machineOf } from './report/machine.ts';
import { tableText } from './report/terminal.ts';
import { TABLES } from './tables/index.ts';
import type { Row } from './tables/table.ts';

const options = readOptions(process.argv.slice(2));
if (!options) {
  console.log(USAGE);
  process.exit(0);
}
if (process.platform !== 'linux') {
  console.error('the benchmark reads /proc, so it only runs on Linux');
  process.exit(1);
}

/** A progress line that is overwritten on a terminal; no output elsewhere. */
const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

const tables = TABLES.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
const hasPeers = tables.some((table) => table.jobs(false).some(({ subject }) => isPeer(subject)));

// Quick runs use the installed peers.
if (!options.quick && options.against === null && hasPeers) await installPeers(console.log);
const machine = await machineOf();
const began = new Date();
const measuredOn = `${machineLine(machine)}; ${began.toISOString().slice(0, 10)}`;
console.log(`${measuredOn}\n`);

const plan = {
  quick: options.quick,
  // A quick run ends in under a minute, even on a busy machine.
  deadline: options.quick ? began.getTime() + 57_000 : Number.POSITIVE_INFINITY,
  measuredOn,
  against: options.against,
  progress,
};

const rows: Row[] = [];
const pairs: Compared[] = [];
for (const table of tables) {
  const measured = await measureTable(table, plan);
  progress('');
  if (measured.length > 0) console.log(`${tableText(table, measured)}\n`);
  rows.push(...measured);
  pairs.push(...compared(table, measured));
}
if (options.against !== null) console.log(`Against ${options.against}\n${comparisonText(pairs)}\n`);

const goals = goalsOf(rows);
// If only some tables are measured, only their goals are shown.
const shownGoals = options.only.length === 0 ? goals : goals.filter(({ met }) => met !== null);
if (options.against === null) console.log(goalsText(shownGoals));

const out = options.out ?? inBench('results/latest.json');
mkdirSync(dirname(out), { recursive: true });
const seconds = Math.round((Date.now() - began.getTime()) / 1_000);
await Bun.write(
  out,
  `${JSON.stringify({ measuredOn, machine, began, seconds, quick: options.quick, rows, goals, pairs }, null, 2)}\n`,
);
console.log(`\n${seconds} s; written to ${out}`);

// Only a complete run updates the checked-in chart.
if (!options.quick && options.against === null && options.only.length === 0) {
  await Bun.write(inRepository('docs/bench.svg'), chart(rows, measuredOn));
  console.log('and to docs/bench.svg');
}
