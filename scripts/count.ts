/**
 * `npm run count`: how the code is cut. Counts TypeScript files and lines of the packages without tests, files that only one
 * other file imports and that have no test of their own, and pairs of places that repeat lines. `--list` prints them.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { $ } from 'bun';

const ROOT = join(import.meta.dir, '..');
/** equal lines in a row that count as a repetition */
const REPEATED = 6;
const COMMON = 8;
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
/** places where the same lines stand */
const runs = new Map<string, Place[]>();
let lines = 0;
for (const path of files) {
  const text = await Bun.file(join(ROOT, path)).text();
  if (!isTest(path)) {
    lines += text.split('\n').length - 1;
    const code = codeOf(text);
    for (let at = 0; at + REPEATED <= code.length; at++) {
      const run = code.slice(at, at + REPEATED);
      const key = run.map((line) => line.text).join('\n');
      runs.set(key, [...(runs.get(key) ?? []), { path, at, line: run[0]?.number ?? 0 }]);
    }
  }
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    const target = resolve(path, name);
    if (target !== null) importers.set(target, (importers.get(target) ?? new Set()).add(path));
  }
}

type Place = { readonly path: string; readonly at: number; readonly line: number };

/** Lines without imports, comments and lone punctuation. */
function codeOf(text: string): { readonly text: string; readonly number: number }[] {
  const blank = (part: string) => part.replace(/[^\n]/g, '');
  return text
    .replace(/^import\b(?!\()[^;]*;|\/\*\*[\s\S]*?\*\/|^\s*\/\/.*/gm, blank)
    .split('\n')
    .map((line, index) => ({ text: line.trim(), number: index + 1 }))
    .filter((line) => /\w/.test(line.text));
}

/** Longer runs count once; what stands in more places than `COMMON` is a form, not a copy. */
function repetitions(): string[] {
  const pairs = [...runs.values()]
    .filter((places) => places.length <= COMMON)
    .flatMap((places) =>
      places.flatMap((one, index) => places.slice(index + 1).map((other) => [one, other] as const)),
    )
    .filter(([one, other]) => one.path !== other.path || other.at - one.at >= REPEATED);
  const keyOf = (one: Place, other: Place, offset = 0): string =>
    `${one.path}:${one.at - offset} ${other.path}:${other.at - offset}`;
  const known = new Set(pairs.map(([one, other]) => keyOf(one, other)));
  return pairs
    .filter(([one, other]) => !known.has(keyOf(one, other, 1)))
    .map(([one, other]) => `${one.path}:${one.line} ~ ${other.path}:${other.line}`);
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

const repeated = repetitions();
if (process.argv.includes('--list'))
  for (const line of [...single.map(({ path, by }) => `${path} ← ${by}`), ...repeated]) console.log(line);
const share = ((100 * single.length) / product.length).toFixed(1);
console.log(`${product.length} files, ${lines} lines, ${Math.round(lines / product.length)} lines a file`);
console.log(`${single.length} files (${share} %) with one importer and no test`);
console.log(`${repeated.length} pairs of places repeat ${REPEATED} or more lines`);
