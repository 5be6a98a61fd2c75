/**
 * `npm run check`: format, lint, types, imports, unused code and generated files, two steps at a time. Prints only
 * failures.
 */
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const BIN = join(ROOT, 'node_modules/.bin');

/** Longest first. */
const STEPS = [
  'tsc',
  'tsc -p packages/web',
  'tsc -p packages/ui',
  'biome check --error-on-warnings .',
  'tsc -p packages/extension',
  'knip --no-progress --no-config-hints',
  'bun scripts/docs.ts --check',
  'bun scripts/container/check.ts',
  'tsc -p packages/sdk',
  'bun scripts/kubernetes/check.ts',
  'bun scripts/check-imports.ts',
];

const left = [...STEPS];
let failed = 0;

async function work(): Promise<void> {
  for (let step = left.shift(); step !== undefined; step = left.shift()) {
    const [program = '', ...args] = step.split(' ');
    const child = Bun.spawn([join(BIN, program), ...args], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    console.log(`${code === 0 ? 'ok' : 'FAILED'}: ${step}`);
    if (code === 0) continue;
    failed++;
    console.error(`${out}${err}`.trimEnd());
  }
}

await Promise.all([work(), work()]);
process.exit(failed === 0 ? 0 : 1);
