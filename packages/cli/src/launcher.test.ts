/** Engine settings are specific to a Bun version: another version ignores them silently. */
import { expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingSettings } from './engine-settings.ts';

const LAUNCHER = join(import.meta.dir, '../bin/parlance');

test('Bun knows every engine setting of the launcher', async () => {
  const launcher = await Bun.file(LAUNCHER).text();
  const made = [...launcher.matchAll(/^ *export BUN_JSC_(\w+)=/gm)].map(([, name]) => name);
  expect(made.length).toBeGreaterThan(0);
  const env = { ...process.env, BUN_JSC_dumpOptions: '3' };
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', '0'], { env });
  const known = new Set([...`${stdout}${stderr}`.matchAll(/^\s*(\w+)=/gm)].map(([, name]) => name));
  expect(made.filter((name) => !known.has(name))).toEqual([]);
});

/** What the launcher gives the engine: it is run with a `bun` that prints its environment. */
async function environmentOf(profile: string | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-launcher-'));
  const bin = join(folder, 'package/bin');
  await Bun.write(join(bin, 'parlance'), Bun.file(LAUNCHER));
  await Bun.write(join(folder, 'path/bun'), '#!/bin/sh\nenv\n');
  await chmod(join(folder, 'path/bun'), 0o755);
  const env = {
    PATH: `${join(folder, 'path')}:/usr/bin:/bin`,
    ...(profile && { PARLANCE_PROFILE: profile }),
  };
  const { stdout, stderr, exitCode } = Bun.spawnSync(['sh', join(bin, 'parlance')], { env });
  await rm(folder, { recursive: true });
  const set = stdout.toString().match(/^(?:BUN_JSC|MIMALLOC)_\w+/gm) ?? [];
  return { set, exitCode, errors: stderr.toString() };
}

test('the runtime settings are unchanged unless a profile is named', async () => {
  expect(await environmentOf(undefined)).toEqual({ set: [], exitCode: 0, errors: '' });
  const { set } = await environmentOf('small');
  expect(set).toContain('BUN_JSC_heapGrowthMaxIncrease');
});

test('the executable has the same settings as the launcher', async () => {
  const launcher = await Bun.file(LAUNCHER).text();
  const made = [...launcher.matchAll(/^ *export (\w+)="\$\{\1:-([^}]+)\}"/gm)];
  const env = { PARLANCE_PROFILE: 'small', HTTPS_PROXY: 'http://proxy.test' };
  expect(missingSettings(env)).toEqual(Object.fromEntries(made.map(([, name, value]) => [name, value])));
  expect(missingSettings({})).toEqual({});
  expect(missingSettings({ ...env, ...missingSettings(env) })).toEqual({});
});

test('an unknown profile is refused', async () => {
  const { exitCode, errors } = await environmentOf('tiny');
  expect(exitCode).toBe(1);
  expect(errors).toBe('parlance: PARLANCE_PROFILE must be small or empty, not tiny\n');
});

test('the program of the platform is used if npm ran no install script', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-launcher-'));
  const program = (path: string, text: string) =>
    Bun.write(join(folder, path), `#!/bin/sh\necho ${text}\n`).then(() => chmod(join(folder, path), 0o755));
  await Bun.write(join(folder, 'node_modules/parlance/packages/cli/bin/parlance'), Bun.file(LAUNCHER));
  await program('node_modules/.bin/bun', 'placeholder');
  await program('node_modules/@oven/bun-linux-x64/bin/bun', 'glibc');
  await program('node_modules/@oven/bun-linux-x64-musl/bin/bun', 'musl');
  const launcher = join(folder, 'node_modules/parlance/packages/cli/bin/parlance');
  const { stdout } = Bun.spawnSync(['sh', launcher], { env: { PATH: '/usr/bin:/bin' } });
  await rm(folder, { recursive: true });
  const isMusl = [...new Bun.Glob('lib/ld-musl-*').scanSync('/')].length > 0;
  expect(stdout.toString()).toBe(isMusl ? 'musl\n' : 'glibc\n');
});
