/**
 * `npm run test:crash -- --seed N --kills N --seconds N`. With `--cluster`, runs three nodes on PostgreSQL and
 * Valkey; `--target` limits the failures to one kind (node, pause, valkey, postgres). Exits with 1 if something
 * was lost, if there were fewer kills than requested, or if recovery took too long. The seed determines
 * messages, their order and the times of the kills, but not the interleaving of threads.
 */
import { parseArgs } from 'node:util';
import { TARGETS } from './cluster/killer.ts';
import { runCluster } from './cluster/run.ts';
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
    target: { type: 'string' },
  },
});
const wholeNumber = (name: 'seed' | 'kills' | 'seconds', fallback?: number): number => {
  const value = Number(values[name] ?? fallback);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number`);
  process.exit(2);
};
const seed = wholeNumber('seed');
const kills = wholeNumber('kills');
const seconds = wholeNumber('seconds', values.cluster ? 900 : 120);

const target = TARGETS.find((name) => name === values.target);
if (values.target !== undefined && !target) {
  console.error(`--target must be one of ${TARGETS.join(', ')}`);
  process.exit(2);
}
const targets = target ? ([target] as const) : TARGETS;

const fail = (why: string): never => {
  console.log(`FAILED: ${why}; again with --seed ${seed}`);
  process.exit(1);
};

console.log(`seed ${seed}: ${kills} kills in at most ${seconds} seconds`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => fail(`stopped by ${signal}`));
setTimeout(() => fail('not done in time'), seconds * 1_000);
const onError = (what: string) => console.log(`error: ${what}`);
const running = values.cluster
  ? runCluster({ seed, kills, seconds, more: MORE_CLIENTS, targets, onError })
  : run({ seed, kills, seconds, onError });
const outcome = await running.catch((thrown: Error) => fail(thrown.message));
for (const line of reportOf(seed, outcome)) console.log(line);
const slow = outcome.times.filter(({ values, under = Infinity }) => spreadOf(values).p95 >= under);
const failures = [
  ...(outcome.violations.length > 0 ? [`${outcome.violations.length} violations`] : []),
  ...(outcome.kills < kills ? [`only ${outcome.kills} of ${kills} kills`] : []),
  ...slow.map(({ what, under }) => `p95 ${what} is not under ${under} ms`),
];
if (failures.length > 0) fail(failures.join('; '));
console.log('nothing was lost');
process.exit(0);
