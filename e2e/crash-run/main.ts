/**
 * `npm run test:crash -- --seed N --kills N --seconds N`. With `--cluster`, runs three nodes on PostgreSQL and
 * Valkey; `--target` limits the faults to these kinds; `--previous` starts with nodes of another checkout.
 * `--history FILE` writes the history, `--check FILE` only checks one. docs/crash-run.md has more. Exits with 1
 * if something was lost, if there were fewer faults than requested, or if recovery took too long. The seed
 * determines messages, their order and the times of the faults, but not the interleaving of threads.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { kindOf, TARGETS, usable } from './cluster/faults.ts';
import { runCluster } from './cluster/run.ts';
import { parseHistory } from './history.ts';
import { checkHistory } from './history-checker.ts';
import { reportOf, spreadOf } from './report.ts';
import { run } from './run.ts';

/** Additional clients of each dialect on several nodes. */
const MORE_CLIENTS = 3;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
    kills: { type: 'string', default: '100' },
    seconds: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    target: { type: 'string', multiple: true },
    previous: { type: 'string' },
    history: { type: 'string' },
    check: { type: 'string' },
  },
});

if (values.check !== undefined) {
  const { operations } = parseHistory(readFileSync(values.check, 'utf8'));
  const found = checkHistory(operations);
  for (const { rule, session, what } of found) console.log(`${rule}: ${session} ${what}`);
  console.log(`${operations.length} operations, ${found.length} violations`);
  process.exit(found.length > 0 ? 1 : 0);
}

const wholeNumber = (name: 'seed' | 'kills' | 'seconds', fallback?: number): number => {
  const value = Number(values[name] ?? fallback);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number`);
  process.exit(2);
};
const seed = wholeNumber('seed');
const kills = wholeNumber('kills');
const seconds = wholeNumber('seconds', values.cluster ? 900 : 120);

const unknown = values.target?.find((name) => !TARGETS.some((target) => target === name));
if (unknown !== undefined) {
  console.error(`--target must be one of ${TARGETS.join(', ')}, not ${unknown}`);
  process.exit(2);
}
const wanted = TARGETS.filter((target) => values.target?.includes(target) ?? true);
for (const target of values.cluster ? wanted : [])
  if (!usable(target)) console.log(`left out: ${target} (${kindOf(target).missing})`);
const targets = wanted.filter(usable);
if (targets.length === 0) process.exit(2);

const fail = (why: string): never => {
  console.log(`FAILED: ${why}; again with --seed ${seed}`);
  process.exit(1);
};

console.log(`seed ${seed}: ${kills} faults in at most ${seconds} seconds`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => fail(`stopped by ${signal}`));
setTimeout(() => fail('not done in time'), seconds * 1_000);
const onError = (what: string) => console.log(`error: ${what}`);
const { previous, history } = values;
const running = values.cluster
  ? runCluster({ seed, kills, seconds, more: MORE_CLIENTS, targets, previous, history, onError })
  : run({ seed, kills, seconds, history, onError });
const outcome = await running.catch((thrown: Error) => fail(thrown.message));
for (const line of reportOf(seed, outcome)) console.log(line);
const slow = outcome.times.filter(({ values, under = Infinity }) => spreadOf(values).p95 >= under);
const count = outcome.faults.faults.length;
const failures = [
  ...(outcome.violations.length > 0 ? [`${outcome.violations.length} violations`] : []),
  ...(count < kills ? [`only ${count} of ${kills} faults`] : []),
  ...slow.map(({ what, under }) => `p95 ${what} is not under ${under} ms`),
];
if (failures.length > 0) fail(failures.join('; '));
console.log('nothing was lost');
process.exit(0);
