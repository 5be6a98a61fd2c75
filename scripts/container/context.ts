/** The build context: all files that .dockerignore does not exclude. */
import { cpSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Glob } from 'bun';

/** The last rule that matches a path, or a folder above it, decides. */
export function ignoreRules(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      keeps: line.startsWith('!'),
      glob: new Glob(line.replace(/^!/, '').replace(/\/$/, '')),
    }));
  return (path) => {
    const segments = path.split('/');
    const prefixes = segments.map((_, index) => segments.slice(0, index + 1).join('/'));
    let ignored = false;
    for (const { keeps, glob } of rules) if (prefixes.some((prefix) => glob.match(prefix))) ignored = !keeps;
    return ignored;
  };
}

/** The files of `path` below `root`, or itself, that are not ignored. */
export function filesIn(root: string, path: string, ignored: (path: string) => boolean): string[] {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory()) return ignored(path) ? [] : [path];
  // An ignored folder may contain files that are not ignored, except for these two.
  if (ignored(path) && ['node_modules', '.git'].includes(basename(path))) return [];
  return readdirSync(join(root, path)).flatMap((name) => filesIn(root, join(path, name), ignored));
}

/** Like `COPY`: the content of a folder goes into `to`; a file becomes `to` or goes below it. */
export function copyInto(
  to: string,
  sources: readonly string[],
  { root, ignored }: { root: string; ignored: (path: string) => boolean },
): void {
  for (const source of sources) {
    const isFolder = statSync(join(root, source)).isDirectory();
    const below = to.endsWith('/') || sources.length > 1;
    for (const file of filesIn(root, source, ignored)) {
      const target = isFolder ? join(to, file.slice(source.length)) : below ? join(to, basename(file)) : to;
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(root, file), target, { verbatimSymlinks: true });
    }
  }
}
