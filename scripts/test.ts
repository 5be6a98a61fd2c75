/**
 * `npm test`: installs what the tests need and runs them. Missing programs are reported, and their tests are skipped by
 * name; in CI nothing may be missing.
 */
import { join } from 'node:path';
import { $ } from 'bun';
import { Trouble } from './test-failures.ts';

/** program → Debian package */
const NEEDED = { bwrap: 'bubblewrap', rg: 'ripgrep', chromium: 'chromium' };

const missing = Object.entries(NEEDED).filter(([program]) => !Bun.which(program));
if (missing.length > 0 && Bun.which('apt-get') && process.getuid?.() === 0) {
  const packages = missing.map(([, name]) => name);
  console.log(`installing ${packages.join(', ')}`);
  await $`apt-get update -qq && apt-get install -y -qq ${packages}`.quiet().nothrow();
}
const absent = missing.filter(([program]) => !Bun.which(program)).map(([, name]) => name);
if (absent.length > 0) console.log(`not on this machine, so what needs it is skipped: ${absent.join(', ')}`);
if (absent.length > 0 && process.env.CI) process.exit(1);

// Once, before many test processes need it.
await $`sh ${join(import.meta.dir, 'build-if-stale')}`.quiet().nothrow();

const run = Bun.spawn(
  [process.execPath, 'test', '--parallel', '--timeout', '30000', ...process.argv.slice(2)],
  {
    stdout: 'inherit',
    stderr: 'pipe',
  },
);
let tail = '';
const trouble = new Trouble();
const decoder = new TextDecoder();
for await (const chunk of run.stderr) {
  process.stderr.write(chunk);
  const text = decoder.decode(chunk, { stream: true });
  trouble.take(text);
  tail = (tail + text).slice(-2_000);
}
const code = await run.exited;
const count = (word: string): number =>
  Number(tail.match(new RegExp(`^\\s*(\\d+) ${word}\\b`, 'm'))?.[1] ?? 0);
// Bun does not count an error outside of a test as a failure.
const [passed, failed, skipped] = [count('pass'), count('fail') + count('error'), count('skip')];
if (trouble.found.length > 0) console.log(`\nWhat went wrong:\n\n${trouble.found.join('\n\n')}\n`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(code === 0 && passed > 0 ? 0 : 1);
