import { afterAll, describe, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { version } from '../package.json' with { type: 'json' };
import { runParlance } from './testing/run-parlance.ts';

const cwd = tmpdir();

test('--help lists the commands', async () => {
  const { code, stdout, stderr } = await runParlance(['--help'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('parlance serve --help');
  for (const command of ['serve', 'user', 'export', 'import', 'backup'])
    expect(stdout).toMatch(new RegExp(`^  ${command} +\\w`, 'm'));
});

test('--version prints the version and nothing else', async () => {
  expect(await runParlance(['--version'], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('an unknown command prints one line and exits 2', async () => {
  expect(await runParlance(['sing'], { cwd })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'parlance: unknown command "sing" (parlance --help lists them)\n',
  });
  const { stderr } = await runParlance(['sevre'], { cwd });
  expect(stderr).toBe('parlance: unknown command "sevre" (did you mean serve?)\n');
});

test('without a command, prints the usage and exits 2', async () => {
  const { code, stdout, stderr } = await runParlance([], { cwd });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toStartWith('Usage: parlance COMMAND');
});

describe('the launcher', () => {
  const launcher = join(import.meta.dir, '../bin/parlance');
  const folder = mkdtempSync(join(tmpdir(), 'parlance-launcher-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function launch(program: string, ...args: string[]) {
    const env = { PATH: '/usr/bin:/bin' };
    const child = Bun.spawn([program, ...args], { cwd: folder, env, stdout: 'pipe', stderr: 'pipe' });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, stdout, stderr };
  }
  const versionShown = { code: 0, stdout: `${version}\n`, stderr: '' };

  test('finds its own bun from any folder, without one in PATH', async () => {
    expect(await launch(launcher, '--version')).toEqual(versionShown);
  });

  test('works through a link, as npm makes one', async () => {
    symlinkSync(launcher, join(folder, 'linked'));
    expect(await launch(join(folder, 'linked'), '--version')).toEqual(versionShown);
  });

  test('ignores code and .env of the current folder', async () => {
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./planted.ts"]');
    writeFileSync(join(folder, 'planted.ts'), 'console.log("planted");');
    expect(await launch(launcher, '--version')).toEqual(versionShown);
    writeFileSync(join(folder, '.env'), 'PORT=many');
    expect((await launch(launcher, 'serve', '--log-level', 'loud')).stderr).toStartWith(
      'parlance: --log-level',
    );
  });

  test('runs the bundle unless it is missing or older than a source', async () => {
    const packages = join(folder, 'checkout/packages');
    const at = (path: string, seconds: number, text = '') => {
      mkdirSync(dirname(join(packages, path)), { recursive: true });
      writeFileSync(join(packages, path), text);
      utimesSync(join(packages, path), seconds, seconds);
    };
    at('cli/src/main.ts', 1_000, 'console.log("source")');
    at('server/src/tools/tool.ts', 1_000);
    at('protocol/src/index.ts', 1_000);
    at('cli/bin/parlance', 1_000, readFileSync(launcher, 'utf8'));
    symlinkSync(join(import.meta.dir, '../../../node_modules'), join(folder, 'checkout/node_modules'));
    const printed = async () => (await launch('sh', join(packages, 'cli/bin/parlance'))).stdout.trim();
    expect(await printed()).toBe('source');
    at('cli/dist/main.js', 2_000, 'console.log("built")');
    for (const name of ['cli/src', 'server/src', 'server/src/tools', 'protocol/src'])
      utimesSync(join(packages, name), 1_000, 1_000);
    expect(await printed()).toBe('built');
    at('server/src/tools/tool.ts', 3_000);
    expect(await printed()).toBe('source');
    rmSync(join(packages, 'server'), { recursive: true });
    rmSync(join(packages, 'protocol'), { recursive: true });
    rmSync(join(packages, 'cli/src'), { recursive: true });
    expect(await printed()).toBe('built');
  });
});
