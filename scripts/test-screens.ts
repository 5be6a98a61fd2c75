/**
 * `npm run test:screens`: the tests of the console on every screen, one after the other, and axe on every page
 * and dialog. Arguments replace the test files; `SCREEN=320-dark` chooses one screen.
 */
import { join } from 'node:path';
import { Glob } from 'bun';
import { SCREENS } from '../e2e/console/screen.ts';
import { TestFailures } from './test-failures.ts';

const ROOT = join(import.meta.dir, '..');
/** Looks at every page on all screens itself. */
const ACCESSIBILITY = 'e2e/console/accessibility.test.ts';

const chosen = process.argv.slice(2);
const files = chosen.length > 0 ? chosen : [...new Glob('e2e/console/*.test.ts').scanSync(ROOT)].sort();
const behaviour = files.filter((file) => file !== ACCESSIBILITY);
const screens = process.env.SCREEN ? [process.env.SCREEN] : [...SCREENS.keys()];

type Run = { readonly name: string; readonly files: readonly string[]; readonly env: Record<string, string> };

const runs: Run[] = screens.map((name) => ({ name, files: behaviour, env: { SCREEN: name } }));
if (files.includes(ACCESSIBILITY))
  runs.push({ name: 'axe', files: [ACCESSIBILITY], env: { ALL_SCREENS: '1' } });

const summary: string[] = [];
let failed = false;
for (const run of runs) {
  if (run.files.length === 0) continue;
  console.log(`\n# ${run.name}\n`);
  const { code, failures } = await runTests(run);
  failed ||= code !== 0;
  summary.push(`${run.name}: ${code === 0 ? 'passed' : 'failed'}`, ...failures.map((name) => `  ${name}`));
}
console.log(`\n${summary.join('\n')}`);
process.exit(failed ? 1 : 0);

async function runTests({ files, env }: Run): Promise<{ code: number; failures: string[] }> {
  const child = Bun.spawn([process.execPath, join(ROOT, 'scripts/test.ts'), ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdout: 'inherit',
    stderr: 'pipe',
  });
  const failures = new TestFailures();
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk);
    failures.add(decoder.decode(chunk, { stream: true }));
  }
  return { code: await child.exited, failures: failures.found.map(titleOf) };
}

/** The file and the title of a failed test. */
function titleOf(failure: string): string {
  const lines = failure.split('\n');
  const title = lines.findLast((line) => line.startsWith('(fail) ')) ?? '(fail) error outside of a test';
  return `${lines[0]} ${title.slice('(fail) '.length)}`;
}
