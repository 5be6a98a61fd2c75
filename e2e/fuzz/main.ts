/** `npm run fuzz -- --seed 7 --count 100000`: a long run that fails if the server does. */
import { parseArgs } from 'node:util';
import { DRIVERS } from '../drivers.ts';
import { fuzzedServer } from './server.ts';

/** The most that the memory of the server may grow, in MiB. */
const MAX_GROWTH = 400;

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '100000' } },
});
const [seed, count] = [Number(values.seed), Number(values.count)];
const began = performance.now();
const outcome = await fuzzedServer({ seed, count, report: (line) => console.log(line) });
const { sent, problems, statuses, memoryBefore, memoryAfter, answering, logged } = outcome;
console.log(`seed ${seed}: ${sent} sent in ${Math.round((performance.now() - began) / 1000)} s`);
console.log(
  `HTTP: ${Object.entries(statuses)
    .map(([status, times]) => `${times} × ${status}`)
    .join(', ')}`,
);
console.log(`memory: ${memoryBefore} MiB before, ${memoryAfter} MiB after`);
console.log(`answering afterwards: ${answering.join(', ')}`);
for (const line of [...problems.slice(0, 40), ...logged.slice(0, 20)]) console.log(line.slice(0, 1_000));
const failures = [
  ...(problems.length > 0 ? [`${problems.length} problems`] : []),
  ...(logged.length > 0 ? [`${logged.length} errors in the log`] : []),
  ...(memoryAfter - memoryBefore > MAX_GROWTH ? [`more than ${MAX_GROWTH} MiB of growth`] : []),
  ...(answering.length < Object.keys(DRIVERS).length ? ['not every dialect answers'] : []),
];
console.log(failures.length === 0 ? 'nothing found' : `failed: ${failures.join('; ')}`);
process.exit(failures.length === 0 ? 0 : 1);
