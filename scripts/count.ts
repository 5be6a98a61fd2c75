/**
 * `npm run count`: how the code is cut. Counts TypeScript files and lines of the packages without tests, and files that only one
 * other file imports and that have no test of their own. `--list` prints those files with their importer.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { $ } from 'bun';

const ROOT = join(import.meta.dir, '..');
/** `import … from '…'`, `export … from '…'`, `import('…')` and `import '…'`, types included */
const IMPORTED = /(?:\bfrom|\bimport\s*\(?)\s*'([^']+)'/g;
const isTest = (path: string): boolean =>
  /\.test\.tsx?$|(^|\/)(testing|e2e|fixtures|contract|suite)\//.test(path);

const files = (
  await $`git ls-files --cached --others --exclude-standard ${['packages/**/*.ts', 'packages/**/*.tsx']}`
    .cwd(ROOT)
    .text()
)
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const product = files.filter((path) => !isTest(path));
const importers = new Map<string, Set<string>>();
let lines = 0;
for (const path of files) {
  const text = await Bun.file(join(ROOT, path)).text();
  if (!isTest(path)) lines += text.split('\n').length - 1;
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    const target = resolve(path, name);
    if (target !== null) importers.set(target, (importers.get(target) ?? new Set()).add(path));
  }
}

function resolve(from: string, name: string): string | null {
  if (name.startsWith('.')) return relative(ROOT, join(ROOT, dirname(from), name));
  if (!name.startsWith('@parlance/')) return null;
  try {
    return relative(ROOT, Bun.resolveSync(name, join(ROOT, dirname(from))));
  } catch {
    return null;
  }
}

const single = product.flatMap((path) => {
  const by = [...(importers.get(path) ?? [])];
  const ownTest = existsSync(join(ROOT, path.replace(/\.tsx?$/, '.test.ts')));
  return by.length === 1 && !ownTest ? [{ path, by: by[0] ?? '' }] : [];
});

if (process.argv.includes('--list')) for (const { path, by } of single) console.log(`${path} ← ${by}`);
const share = ((100 * single.length) / product.length).toFixed(1);
console.log(`${product.length} files, ${lines} lines, ${Math.round(lines / product.length)} lines a file`);
console.log(`${single.length} files (${share} %) with one importer and no test`);
