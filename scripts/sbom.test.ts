import { expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { makeBill } from './sbom.ts';

type Entry = {
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** The dependencies of the workspaces, found by walking the lock file like Node's resolution. */
async function needed(): Promise<Set<string>> {
  const lock: { packages: Record<string, Entry> } = await Bun.file(
    join(import.meta.dir, '../package-lock.json'),
  ).json();
  const found = new Set<string>();
  const seen = new Set<string>();
  const locate = (from: string, name: string): string | null => {
    for (let folder = from; ; folder = dirname(folder)) {
      const path = join(folder, 'node_modules', name);
      if (path in lock.packages) return path;
      if (folder === '.' || folder === '') return null;
    }
  };
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const entry = lock.packages[path] ?? {};
    if (entry.link) {
      visit(entry.resolved ?? '');
      return;
    }
    if (path.includes('node_modules/'))
      found.add(`${path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const next = locate(path === '' ? '.' : path, name);
      if (next) visit(next);
    }
  };
  for (const path of Object.keys(lock.packages)) if (!path.includes('node_modules/')) visit(path);
  return found;
}

test('the bill of materials lists every production dependency and no development dependency', async () => {
  const bill = await makeBill();
  const listed = bill.components.map((component) => component['bom-ref']);
  const wanted = await needed();
  expect(wanted.size).toBeGreaterThan(50);
  expect([...wanted].filter((name) => !listed.includes(name))).toEqual([]);
  expect(listed.filter((name) => !wanted.has(name) && !/^(@parlance\/|parlance@)/.test(name))).toEqual([]);
  expect(listed.some((name) => name.startsWith('typescript@'))).toBe(false);
  expect(
    bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !listed.includes(ref)),
  ).toEqual([]);
});
