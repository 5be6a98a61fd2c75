/**
 * `npm run fuzz:commands -- --seed 7 --count 100000 [--sandbox]`: a long run that fails if a command without
 * approval does harm.
 */
import { parseArgs } from 'node:util';
import { findSandbox } from '../../packages/server/src/tools/shell/sandbox.ts';
import { MIN_AUTO_APPROVED } from './limits.ts';
import { fuzzCommands } from './run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100000' },
    sandbox: { type: 'boolean', default: false },
  },
});
const sandbox = values.sandbox ? await findSandbox() : null;
if (values.sandbox && !sandbox) throw new Error('bubblewrap does not work on this machine');
const seed = Number(values.seed);
const began = performance.now();
const { checked, ran, programs, problems } = await fuzzCommands({
  seed,
  count: Number(values.count),
  sandbox,
  report: (line) => console.log(line),
});
const share = ran / checked;
console.log(
  `seed ${seed}: ${checked} checked, ${ran} auto-approved (${Math.round(share * 100)} %) in ${Math.round((performance.now() - began) / 1000)} s`,
);
const listed = Object.entries(programs).sort(([, one], [, other]) => other - one);
console.log(
  listed
    .map(([program, times]) => `${times} × ${program}`)
    .slice(0, 20)
    .join(', '),
);
for (const problem of problems.slice(0, 20)) console.log(problem.slice(0, 600));
const failures = [
  ...(problems.length > 0 ? [`${problems.length} problems`] : []),
  ...(share < MIN_AUTO_APPROVED ? [`less than ${MIN_AUTO_APPROVED * 100} % were auto-approved`] : []),
];
console.log(failures.length === 0 ? 'nothing found' : `failed: ${failures.join('; ')}`);
process.exit(failures.length === 0 ? 0 : 1);
