import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../package.json' with { type: 'json' };
import { runParlance } from './run-parlance.ts';

const cwd = tmpdir();

test('--help lists the commands', async () => {
  const { code, stdout, stderr } = await runParlance(['--help'], { cwd });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('parlance serve --help');
});

test('--version prints the version and nothing else', async () => {
  expect(await runParlance(['--version'], { cwd })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('an unknown command is one clear line and exit 2', async () => {
  expect(await runParlance(['sing'], { cwd })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'parlance: unknown command "sing" (parlance --help lists them)\n',
  });
});

test('no command shows the usage and exits 2', async () => {
  const { code, stdout, stderr } = await runParlance([], { cwd });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toStartWith('Usage: parlance COMMAND');
});

test('the launcher finds its own bun, from any folder and without one in PATH', async () => {
  const launcher = join(import.meta.dir, '../bin/parlance');
  const child = Bun.spawn([launcher, '--version'], { cwd, env: { PATH: '/usr/bin:/bin' }, stdout: 'pipe' });
  expect(await child.stdout.text()).toBe(`${version}\n`);
});
