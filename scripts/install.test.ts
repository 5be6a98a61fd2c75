import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'parlance-install-'));
const project = join(folder, 'project');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: folder, NODE_ENV: 'production', npm_config_offline: 'true' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${out}${err}`);
  return out + err;
}
const install = (...args: string[]): Promise<string> => run('node', 'scripts/install.mjs', ...args);
const has = (name: string): boolean => existsSync(join(project, 'node_modules', name, 'package.json'));

const write = (path: string, value: object): void =>
  writeFileSync(join(project, path), JSON.stringify(value));

/** A tarball, and the lock file that names it. */
async function depend(version: string): Promise<void> {
  for (const name of ['served', 'tested']) {
    mkdirSync(join(project, name), { recursive: true });
    write(`${name}/package.json`, { name, version, engines: { node: '>=99' } });
    await run('npm', 'pack', `./${name}`);
  }
  write('package.json', {
    name: 'project',
    version: '1.0.0',
    dependencies: { served: `file:served-${version}.tgz` },
    devDependencies: { tested: `file:tested-${version}.tgz` },
  });
  await run('npm', 'install', '--package-lock-only', '--ignore-scripts');
}

beforeAll(async () => {
  mkdirSync(project);
  mkdirSync(join(project, 'scripts'));
  cpSync(join(import.meta.dir, 'install.mjs'), join(project, 'scripts/install.mjs'));
  cpSync(join(import.meta.dir, '../.npmrc'), join(project, '.npmrc'));
  await depend('1.0.0');
});

test('installs what is missing, once, without warnings about the version of Node', async () => {
  const first = await install('--omit=dev');
  expect(first).toContain('Installing 1 packages: npm ci --omit=dev');
  expect(first).not.toContain('EBADENGINE');
  expect([has('served'), has('tested')]).toEqual([true, false]);
  expect(await install('--omit=dev')).toBe('');

  expect(await install()).toContain('Installing 2 packages');
  expect(has('tested')).toBe(true);
  expect(await install()).toBe('');
  expect(await install('--omit=dev')).toBe('');
});

test('installs again after the lock file has changed, and keeps development dependencies', async () => {
  await depend('2.0.0');
  expect(await install('--omit=dev')).toContain('Installing 2 packages');
  expect(await Bun.file(join(project, 'node_modules/served/package.json')).json()).toMatchObject({
    version: '2.0.0',
  });
  expect(has('tested')).toBe(true);
  expect(await install('--omit=dev')).toBe('');
});

test('installs again after an installation that was interrupted', async () => {
  rmSync(join(project, 'node_modules/.package-lock.json'));
  expect(await install()).toContain('Installing 2 packages');
  expect(await install()).toBe('');
});

test('reports that npm could not install', async () => {
  rmSync(join(project, 'node_modules'), { recursive: true });
  write('package-lock.json', {
    lockfileVersion: 3,
    packages: { 'node_modules/served': { version: '3.0.0' } },
  });
  await expect(install()).rejects.toThrow('The packages were not installed');
});
