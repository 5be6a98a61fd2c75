/**
 * `npm run simulate`: deterministic simulation of the engine.
 *
 *   npm run simulate -- --seed 7          one run, with its trace
 *   npm run simulate -- --seeds 10000     many runs, from --from (default 1)
 *   npm run simulate -- --seeds 100 --about failovers    only worlds of this kind, whatever the seed would choose
 *   npm run simulate -- --minutes 30      as many runs as fit
 *   npm run simulate -- --mutants         plants defects one by one and shows that each is found; `--mutants NAME` plants one,
 *                                         `--seeds N` looks for each with up to N seeds, `--jobs N` runs N processes at once
 *   npm run simulate -- --mutant NAME --seed 7    one run with one defect
 *   npm run simulate -- --digest          digest of the executions of ten seeds, to compare two machines
 *   npm run simulate -- --coverage        lines of core/ and cluster/ that the runs of `npm test` reach
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findMutants, plant } from './mutants.ts';
import type { RunResult } from './run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    about: { type: 'string' },
    from: { type: 'string', default: '1' },
    minutes: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    mutant: { type: 'string' },
    trace: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    coverage: { type: 'boolean', default: false },
    digest: { type: 'boolean', default: false },
  },
});

if (values.mutant !== undefined) plant(values.mutant);
// Loaded after a defect is planted into their sources.
const [{ ABOUT, planOf }, { run }, { shrink }, { describeFailure }] = await Promise.all([
  import('./plan.ts'),
  import('./run.ts'),
  import('./shrink.ts'),
  import('./report.ts'),
]);

const about = ABOUT.find((one) => one === values.about);
if (values.about !== undefined && !about)
  throw new Error(`there are worlds about ${[...new Set(ABOUT)].join('; ')}`);

const from = Number(values.from);
if (values.coverage) process.exit(await coverage());
else if (values.digest)
  console.log(digestOf(Array.from({ length: 10 }, (_, index) => run(planOf(from + index)))));
else if (values.mutants) process.exit((await mutants()) ? 0 : 1);
else if (values.seed !== undefined) process.exit(one(Number(values.seed)) ? 0 : 1);
else process.exit(many() ? 0 : 1);

function digestOf(results: readonly RunResult[]): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const { digest } of results) hash.update(digest);
  return hash.digest('hex');
}

function mutants(): Promise<boolean> {
  return findMutants(positionals, {
    seeds: Number(values.seeds ?? 600),
    jobs: Number(values.jobs),
    isSound: (seed, about) => run(planOf(seed, about)).violation === null,
  });
}

function one(seed: number): boolean {
  const result = run(planOf(seed, about));
  if (result.violation !== null) {
    console.log(describeFailure(shrink(result)));
    console.log(`\nnot shrunk: ${result.violation.split('\n', 1)[0]}`);
    return false;
  }
  if (values.trace) console.log(result.trace.join('\n'));
  console.log(
    `seed ${seed}: ${result.turns} turns, ${result.commits} commits, ${seconds(result.virtualMs)} s, nothing broken`,
  );
  console.log(`digest ${result.digest}`);
  return true;
}

function many(): boolean {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const until =
    values.minutes === undefined ? Number.POSITIVE_INFINITY : started + Number(values.minutes) * 60_000;
  const last =
    values.seeds === undefined && values.minutes !== undefined
      ? Number.POSITIVE_INFINITY
      : from + Number(values.seeds ?? 100) - 1;
  const total = { seeds: 0, turns: 0, commits: 0, steps: 0, virtualMs: 0 };
  let failure: RunResult | null = null;
  for (let seed = from; seed <= last && performance.now() < until && !failure; seed++) {
    const result = run(planOf(seed, about));
    total.seeds++;
    for (const name of ['turns', 'commits', 'steps', 'virtualMs'] as const) total[name] += result[name];
    if (result.violation !== null) failure = result;
    else if (process.stdout.isTTY) process.stdout.write(`\r${total.seeds} seeds, ${total.turns} turns`);
  }
  const tookMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1_000;
  if (values.quick) {
    console.log(
      failure ? `found with ${total.seeds} seeds: ${failure.violation?.split('\n', 1)[0]}` : 'not found',
    );
    return failure === null;
  }
  if (failure) console.log(`\n${describeFailure(shrink(failure))}\n`);
  console.log(
    `\n${total.seeds} seeds, ${total.turns} turns, ${total.commits} commits, ${total.steps} completions: ` +
      `${seconds(total.virtualMs)} s of the world in ${seconds(cpuMs)} s of the processor (${Math.round(total.virtualMs / cpuMs)} times) ` +
      `and ${seconds(tookMs)} s (${Math.round(total.virtualMs / tookMs)} times real time), ` +
      `${Math.round(total.turns / (cpuMs / 1_000))} turns per second of the processor`,
  );
  return failure === null;
}

/** Bun measures coverage only in tests. */
async function coverage(): Promise<number> {
  const command = [
    process.execPath,
    'test',
    '--coverage',
    '--timeout',
    '1800000',
    'simulation/simulation.test.ts',
  ];
  const child = Bun.spawn(command, { cwd: join(import.meta.dir, '..'), stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const lines = `${out}${err}`
    .split('\n')
    .filter((line) => /packages\/server\/src\/(core|cluster)\//.test(line) && !/\/valkey\//.test(line));
  const percents = lines.map((line) => Number(line.split('|')[2]));
  console.log(lines.join('\n'));
  const mean = percents.reduce((sum, percent) => sum + percent, 0) / Math.max(1, percents.length);
  console.log(
    `\n${lines.length} files of core/ and cluster/, on average ${mean.toFixed(1)} % of their lines`,
  );
  return code;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
