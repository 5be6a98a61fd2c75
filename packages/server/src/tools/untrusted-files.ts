/**
 * Which files others have written: those of a repository inside the working directory, until a person trusts its folder,
 * and those outside of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { realpathOr } from './guard.ts';
import { type Bounds, contains } from './paths.ts';

/** Programs and devices of the system. */
const SYSTEM = ['/bin', '/dev', '/etc', '/lib', '/lib64', '/nix', '/opt', '/proc', '/sbin', '/sys', '/usr'];

/** Tells whether a path is untrusted. Links are resolved; folders are read once. */
export function untrustedFiles({ root: folder, trust, originOf }: Bounds): (path: string) => boolean {
  const own = realpathOr(folder);
  const root = originOf?.(own) ?? own;
  const tops = [...(trust ? [trust.root] : []), root].map(realpathOr);
  const trusted = [...SYSTEM, ...(trust?.folders.map(realpathOr) ?? [])];
  const known = new Map<string, boolean>();
  const isUntrusted = (path: string): boolean => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const top = tops.find((folder) => contains(folder, path));
    const found =
      path !== top && (top === undefined || isForeignRepository(path, top) || isUntrusted(dirname(path)));
    known.set(path, found);
    return found;
  };
  return (path) => {
    const found = realpathOr(path);
    const real = root !== own && contains(own, found) ? join(root, relative(own, found)) : found;
    return !trusted.some((folder) => contains(folder, real)) && isUntrusted(real);
  };
}

const isForeignRepository = (folder: string, top: string): boolean =>
  existsSync(join(folder, '.git')) && !isWorktreeOf(top, folder);

/** Both point to each other, which files of a clone cannot. */
function isWorktreeOf(top: string, folder: string): boolean {
  try {
    const own = join(folder, '.git');
    const git = /^gitdir: (.+)$/m.exec(readFileSync(own, 'utf8'))?.[1] ?? '';
    const isThere = contains(join(top, '.git/worktrees'), git);
    return isThere && readFileSync(join(git, 'gitdir'), 'utf8').trim() === own;
  } catch {
    return false;
  }
}

/** Limits of what is looked at, since each path costs a look at the disk. */
const MAX_WORDS = 500;
const MAX_FOLDERS = 8;
const MAX_LINES = 2_000;

export type Reading = {
  readonly command: readonly string[];
  /** the folder that it runs in */
  readonly workdir: string;
  readonly output: string;
};

/**
 * Whether a command shows what others have written, as far as its folder, its words and the paths in its output tell.
 */
export function readsUntrusted(bounds: Bounds, { command, workdir, output }: Reading): boolean {
  const isUntrusted = untrustedFiles(bounds);
  if (isUntrusted(workdir)) return true;
  const folders = [workdir];
  for (const word of wordsOf(command)) {
    for (const folder of folders.slice(0, MAX_FOLDERS)) {
      const path = resolve(folder, word.replace(/^~(?=\/|$)/, homedir()));
      if (!existsSync(path)) continue;
      if (isUntrusted(path)) return true;
      // A later word may be relative to it, after `cd`.
      if (path !== folder && existsSync(join(path, '.'))) folders.push(path);
    }
  }
  return pathsIn(output).some((path) => isUntrusted(dirname(resolve(workdir, path))));
}

/** Words that may be paths, also those in a script and in options. */
function wordsOf(command: readonly string[]): string[] {
  const quoted = command.flatMap((word) =>
    [...word.matchAll(/"([^"]+)"|'([^']+)'/g)].map((all) => all[1] ?? all[2] ?? ''),
  );
  const words = command.flatMap((word) => word.split(/[\s;|&<>()"'`=:,{}]+/));
  return [...new Set([...quoted, ...words])]
    .filter((word) => word !== '' && !word.startsWith('-'))
    .slice(0, MAX_WORDS);
}

/** Searches and lists name the files that they show. */
const pathsIn = (output: string): string[] => [
  ...new Set(
    output.split('\n', MAX_LINES).flatMap((line) =>
      line
        .slice(0, 500)
        .split(/[\s:]+/, 4)
        .filter((word) => word.includes('/')),
    ),
  ),
];
