/**
 * `npm run test:crash -- --seed N --kills N --seconds N`. Exits with 1 if something was lost, if there were fewer kills than
 * requested in the time, or if recovery took too long. The seed determines messages, their order and the moments of the kills,
 * but not the interleaving of threads.
 */
import { parseArgs } from 'node:util';
import { reportOf, spreadOf } from './report.ts';
import { run } from './run.ts';

const MOST_RECOVERY_MS = 1_000;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
    kills: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '120' },
  },
});
const wholeNumber = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number`);
  process.exit(2);
};
const seed = wholeNumber('seed');
const kills = wholeNumber('kills');
const seconds = wholeNumber('seconds');

const fail = (why: string): never => {
  console.log(`FAILED: ${why}; again with --seed ${seed}`);
  process.exit(1);
};

console.log(`seed ${seed}: ${kills} kills in at most ${seconds} seconds`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => fail(`stopped by ${signal}`));
setTimeout(() => fail('not done in time'), seconds * 1_000);
const onTrouble = (what: string) => console.log(`trouble: ${what}`);
const outcome = await run({ seed, kills, seconds, onTrouble }).catch((thrown: Error) => fail(thrown.message));
for (const line of reportOf(seed, outcome)) console.log(line);
const { p95 } = spreadOf(outcome.recoveries);
const failures = [
  ...(outcome.violations.length > 0 ? [`${outcome.violations.length} violations`] : []),
  ...(outcome.kills < kills ? [`only ${outcome.kills} of ${kills} kills`] : []),
  ...(p95 >= MOST_RECOVERY_MS ? [`recovery p95 is not under ${MOST_RECOVERY_MS} ms`] : []),
];
if (failures.length > 0) fail(failures.join('; '));
console.log('nothing was lost');
process.exit(0);
