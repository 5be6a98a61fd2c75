/**
 * `npm test`: installs required programs and runs the tests. Missing programs are reported, and their tests
 * are skipped by name; in CI, nothing may be missing.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { $, Glob } from 'bun';
import { TestFailures } from './test-failures.ts';

/** Debian installs these programs outside of the path. */
const POSTGRES = 'usr/lib/postgresql/*/bin/postgres';
const LIBFUZZER = 'usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a';

const SHELL = 'usr/lib/chromium/chromium-headless-shell';

type Needed = {
  readonly found: () => boolean;
  readonly packages: readonly string[];
  readonly isOptional?: boolean;
};

const program = (...names: string[]): boolean => names.some((name) => Bun.which(name));
const file = (path: string): boolean => [...new Glob(path).scanSync('/')].length > 0;

/** Debian packages; of several alternatives, the first available one. */
const NEEDED: readonly Needed[] = [
  { found: () => program('bwrap'), packages: ['bubblewrap'] },
  { found: () => program('rg'), packages: ['ripgrep'] },
  { found: () => program('chromium'), packages: ['chromium'] },
  // Chromium without windows: pages take a third of the processor time, so most tests use it if they can.
  { found: () => file(SHELL), packages: ['chromium-headless-shell'], isOptional: true },
  { found: () => program('tmux'), packages: ['tmux'] },
  { found: () => program('valkey-server', 'redis-server'), packages: ['valkey-server', 'redis-server'] },
  { found: () => file(POSTGRES), packages: ['postgresql'] },
  // for the crash run: nodes with a wrong clock
  { found: () => program('faketime'), packages: ['faketime'], isOptional: true },
  { found: () => program('pgbouncer') || file('usr/sbin/pgbouncer'), packages: ['pgbouncer'] },
  // for clients/c
  { found: () => program('gcc') && program('make'), packages: ['build-essential'] },
  { found: () => program('cmake'), packages: ['cmake'] },
  { found: () => program('pkg-config'), packages: ['pkg-config'] },
  { found: () => program('clang'), packages: ['clang'] },
  { found: () => file(LIBFUZZER), packages: ['libclang-rt-dev', 'clang'] },
  { found: () => program('valgrind'), packages: ['valgrind'] },
  { found: () => file('usr/include/libwebsockets.h'), packages: ['libwebsockets-dev'] },
  { found: () => file('usr/include/cjson/cJSON.h'), packages: ['libcjson-dev'] },
  { found: () => file('usr/include/**/curl/curl.h'), packages: ['libcurl4-openssl-dev'] },
];

const missing = NEEDED.filter(({ found }) => !found());
const required = missing.filter(({ isOptional }) => !isOptional);
if (missing.length > 0 && Bun.which('apt-get') && process.getuid?.() === 0) {
  await $`apt-get update -qq`.quiet().nothrow();
  await install(required);
  // Apart: one that cannot be installed must not prevent the others.
  await install(missing.filter(({ isOptional }) => isOptional));
}
const absent = required.filter(({ found }) => !found()).map(({ packages }) => packages.join(' or '));
if (absent.length > 0) console.log(`not installed, so tests that need it are skipped: ${absent.join(', ')}`);
if (absent.length > 0 && process.env.CI) process.exit(1);

// Once, before many test processes need it.
await $`sh ${join(import.meta.dir, 'build-if-stale')} docs`.quiet().nothrow();

/** Temporary files of all tests, and what tests of several processes share, such as the files of an empty database. */
const folder = mkdtempSync(join(tmpdir(), 'parlance-tests-'));
// PostgreSQL runs as another user.
chmodSync(folder, 0o1777);
/**
 * Mounts a RAM disk on that folder, for the tests alone: a server that starts waits for the disk twenty times, which takes
 * longer than all else if other programs use the disk. Needs root, and memory for the files.
 */
const MOUNT_AND_RUN = 'mount -t tmpfs -o mode=1777 tmpfs "$0" && exec "$@"';
const MOUNT = ['unshare', '--mount', 'sh', '-c', MOUNT_AND_RUN, folder];
const MIN_MEMORY = 8 * 1024 ** 3;
const hasRamDisk = totalmem() >= MIN_MEMORY && (await $`${MOUNT} true`.quiet().nothrow()).exitCode === 0;
/** Tests wait for processes and browsers half of the time. More would need too much memory for browsers. */
const workers = Math.min(availableParallelism() * 2, 16);
/** The slowest files start first. `npm test -- --update-timings` writes the file. */
const timings = join(import.meta.dir, 'test-timings.json');
/** Factor of all time limits (`testing/until.ts`): this machine, compared to a fast one. The tests add its load. */
const slowness = Math.max(1, measureMachine()).toFixed(1);
/** More failures than this are not caused by a busy machine. */
const MAX_REPEATED = 6;
/** Only for hooks: tests have a limit that follows the load (`testing/test-limit.ts`), and does not kill servers and browsers. */
const BUN_LIMIT_MS = 1_800_000;
const flags = [`--parallel=${workers}`, '--timeout', String(BUN_LIMIT_MS), '--timings', timings];

// Files of one worker share their modules, which saves a tenth of the processor time.
let result = await run(['--no-isolate', ...process.argv.slice(2)]);
const { failures, failedTests } = result;
list('Failures', failures);
// In CI, or with REPEAT_FAILED, files with failures run once more, isolated: a timeout has killed the servers and browsers of the whole file.
const files = [...new Set(result.files)];
const allFound = failures.length >= failedTests;
const repeats = process.env.CI || process.env.REPEAT_FAILED;
if (repeats && files.length > 0 && files.length <= MAX_REPEATED && allFound) {
  console.log(`Again: ${files.join(', ')}\n`);
  const again = await run(files.map((name) => `./${name}`));
  list('Failed again', again.failures);
  if (again.code === 0) result = { ...result, code: 0, passed: result.passed + failedTests, failed: 0 };
}
rmSync(folder, { recursive: true, force: true });
const { code, passed, failed, skipped } = result;
if (code === 0 && failures.length > 0) console.log('Some passed only when repeated: see "Failures" above.\n');
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(code === 0 && passed > 0 ? 0 : 1);

/** Time for a fixed amount of work, in units of a fast machine. The quickest round is one that no other program delayed. */
function measureMachine(): number {
  const FAST_MS = 0.15;
  const events = Array.from({ length: 500 }, (_, index) => ({ index, text: 'word '.repeat(index % 50) }));
  const rounds = Array.from({ length: 50 }, () => {
    const began = performance.now();
    JSON.parse(JSON.stringify(events));
    return performance.now() - began;
  });
  return Math.min(...rounds) / FAST_MS;
}

function list(title: string, texts: readonly string[]): void {
  if (texts.length > 0) console.log(`\n${title}:\n\n${texts.join('\n\n')}\n`);
}

async function run(args: readonly string[]) {
  const child = Bun.spawn([...(hasRamDisk ? MOUNT : []), process.execPath, 'test', ...flags, ...args], {
    env: { ...process.env, TMPDIR: folder, PARLANCE_TEST_FOLDER: folder, PARLANCE_TEST_SLOWNESS: slowness },
    stdout: 'inherit',
    stderr: 'pipe',
  });
  let tail = '';
  const failures = new TestFailures();
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    process.stderr.write(chunk);
    const text = decoder.decode(chunk, { stream: true });
    failures.add(text);
    tail = (tail + text).slice(-2_000);
  }
  const count = (word: string): number =>
    Number(tail.match(new RegExp(`^\\s*(\\d+) ${word}\\b`, 'm'))?.[1] ?? 0);
  return {
    code: await child.exited,
    passed: count('pass'),
    failedTests: count('fail'),
    // Bun does not count an error outside of a test as a failure.
    failed: count('fail') + count('error'),
    skipped: count('skip'),
    failures: failures.found,
    files: failures.files,
  };
}

async function install(needed: readonly Needed[]): Promise<void> {
  if (needed.length === 0) return;
  const packages: string[] = [];
  for (const { packages: names } of needed) packages.push(await available(names));
  console.log(`installing ${packages.join(', ')}`);
  await $`apt-get install -y -qq -o Acquire::Retries=3 ${packages}`.quiet().nothrow();
}

async function available(names: readonly string[]): Promise<string> {
  for (const name of names)
    if ((await $`apt-cache show ${name}`.quiet().nothrow()).exitCode === 0) return name;
  return names[0] ?? '';
}
