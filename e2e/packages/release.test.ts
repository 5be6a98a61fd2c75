/**
 * `npm run release` in a clone, with the packages of this checkout. Slow: only `npm run test:packages` runs it.
 */
import { afterAll, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, ROOT, run } from './install.ts';

const clone = join(emptyFolder(), 'clone');
const out = join(clone, '../out');
afterAll(() => rmSync(join(clone, '..'), { recursive: true, force: true }));

/** Links to our own packages point into the clone. */
async function cloneRepository(): Promise<void> {
  await run(['git', 'clone', '--quiet', '--depth', '1', `file://${ROOT}`, clone], ROOT);
  await run(['cp', '-al', join(ROOT, 'node_modules'), join(clone, 'node_modules')], ROOT);
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    const nested = join(ROOT, 'packages', name, 'node_modules');
    if (existsSync(nested)) symlinkSync(nested, join(clone, 'packages', name, 'node_modules'));
  }
}

const read = (path: string): string => readFileSync(join(clone, path), 'utf8');

test.skipIf(!process.env.ALL_PACKAGES)(
  'a release has the version everywhere, and all artefacts with their checksums',
  async () => {
    await cloneRepository();
    const release = ['npm', 'run', 'release', '--'];
    await expect(run([...release, 'next'], clone)).rejects.toThrow('usage: npm run release');
    writeFileSync(join(clone, 'left-over.txt'), '');
    await expect(run([...release, '9.8.7'], clone)).rejects.toThrow('the working tree has changes');
    rmSync(join(clone, 'left-over.txt'));

    await run([...release, '9.8.7', '--out', out], clone);
    for (const path of ['package.json', 'packages/sdk/package.json', 'packages/cli/package.json'])
      expect(JSON.parse(read(path)).version).toBe('9.8.7');
    expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]\n\n## \[9\.8\.7\] - \d{4}-\d\d-\d\d\n\n### /m);
    expect(read('clients/c/CMakeLists.txt')).toContain('VERSION 9.8.7');
    // The lock file is up to date: npm would not change it.
    const lock = read('package-lock.json');
    await run(['npm', 'install', '--package-lock-only', '--offline', '--ignore-scripts'], clone);
    expect(read('package-lock.json')).toBe(lock);

    const platform = `${process.platform}-${process.arch}`;
    expect(readdirSync(out).sort()).toEqual([
      'SHA256SUMS',
      `parlance-9.8.7-${platform}`,
      'parlance-9.8.7.cdx.json',
      'parlance-9.8.7.tgz',
      'parlance-extension-9.8.7.zip',
      'parlance-protocol-9.8.7.tgz',
      'parlance-sdk-9.8.7.tgz',
    ]);
    await run(['sha256sum', '--check', '--strict', 'SHA256SUMS'], out);
    expect(await run([join(out, `parlance-9.8.7-${platform}`), '--version'], out)).toBe('9.8.7\n');
    expect(await run(['tar', '-xOf', 'parlance-sdk-9.8.7.tgz', 'package/package.json'], out)).toContain(
      '"version": "9.8.7"',
    );
    expect(JSON.parse(readFileSync(join(out, 'parlance-9.8.7.cdx.json'), 'utf8'))).toMatchObject({
      bomFormat: 'CycloneDX',
    });
  },
);
