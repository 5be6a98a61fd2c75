/** What a command may read: resolves paths as the kernel does, following every link. */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { errorCode } from '../../lib/errors.ts';
import { contains } from '../paths.ts';

/** What an unapproved command may read, with all links resolved. */
export type Scope = {
  readonly root: string;
  /** hidden from commands, also inside the root */
  readonly hide: readonly string[];
  /** what no command may show by another way either; in a sandbox, where these paths are empty, `hide` is empty */
  readonly secrets: readonly string[];
};

export type Target =
  | { readonly kind: 'file' | 'folder' | 'missing'; readonly path: string }
  /** a dangling link, a loop, a folder that cannot be searched, a file used as a folder */
  | { readonly kind: 'unclear' };

const UNCLEAR: Target = { kind: 'unclear' };
const MAX_LINKS = 40;
const MAX_SEGMENTS = 64;

/**
 * Resolves `path` from the real folder `cwd`. Unlike `path.resolve`, `..` after a link leads to the parent of the link's
 * target.
 */
export function targetOf(cwd: string, path: string): Target {
  const todo = path.split(sep).reverse();
  if (todo.length > MAX_SEGMENTS) return UNCLEAR;
  let at = isAbsolute(path) ? sep : cwd;
  let stats = lstatOf(at);
  let links = 0;
  /** while `todo` is at least this long, a link is being followed */
  let linkEnds = Number.POSITIVE_INFINITY;
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (todo.length < linkEnds) linkEnds = Number.POSITIVE_INFINITY;
    if (stats === null || stats === 'missing' || !stats.isDirectory()) return UNCLEAR;
    if (name === '' || name === '.') continue;
    const parent = at;
    at = name === '..' ? dirname(at) : join(at, name);
    stats = lstatOf(at);
    if (stats === 'missing') {
      // A dangling link or a missing folder may lead anywhere by the time the command runs.
      if (linkEnds < Number.POSITIVE_INFINITY || todo.includes('..')) return UNCLEAR;
      return { kind: 'missing', path: join(at, ...todo.reverse()) };
    }
    if (!stats?.isSymbolicLink()) continue;
    if (++links > MAX_LINKS) return UNCLEAR;
    const link = readlinkSync(at);
    linkEnds = Math.min(linkEnds, todo.length);
    todo.push(...link.split(sep).reverse());
    at = isAbsolute(link) ? sep : parent;
    stats = lstatOf(at);
  }
  if (stats === null || stats === 'missing') return UNCLEAR;
  return { kind: stats.isDirectory() ? 'folder' : 'file', path: asStored(at) };
}

/** The stored spelling, if the file system ignores case: paths are compared as text. */
const asStored = (path: string): string => (process.platform === 'darwin' ? realpathSync(path) : path);

function lstatOf(path: string): Stats | 'missing' | null {
  try {
    return lstatSync(path);
  } catch (thrown) {
    return errorCode(thrown) === 'ENOENT' ? 'missing' : null;
  }
}

/** Whether a command may read `path`, or learn that it does not exist. */
export function isOpen(path: string, { root, hide }: Scope): boolean {
  return contains(root, path) && !hide.some((hidden) => contains(hidden, path));
}

/** Number of entries that are checked for links; a larger folder counts as one with links. */
const MAX_ENTRIES = 50_000;

/**
 * Whether a search that follows links from `folders` stays in scope. `depth` 1 checks the links in the folders themselves.
 */
export async function linksStayInside(
  folders: readonly string[],
  scope: Scope,
  depth = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const todo = folders.map((path) => ({ path, depth }));
  const seen = new Set<string>();
  let entries = 0;
  for (let next = todo.pop(); next; next = todo.pop()) {
    const folder = next;
    if (seen.has(folder.path)) continue;
    seen.add(folder.path);
    const found = await readdir(folder.path, { withFileTypes: true }).catch(() => null);
    if (!found) return false;
    entries += found.length;
    if (entries > MAX_ENTRIES) return false;
    for (const entry of found) {
      const path = join(folder.path, entry.name);
      if (entry.isDirectory() && folder.depth > 1) todo.push({ path, depth: folder.depth - 1 });
      if (!entry.isSymbolicLink()) continue;
      const target = targetOf(folder.path, entry.name);
      // A dangling link shows nothing.
      if (target.kind === 'unclear') continue;
      if (!isOpen(target.path, scope)) return false;
      if (target.kind === 'folder' && folder.depth > 1)
        todo.push({ path: target.path, depth: folder.depth - 1 });
    }
  }
  return true;
}

/** Where a command would run. */
export type CommandScope = {
  /** with every link resolved */
  readonly cwd: string;
  readonly scope: Scope;
};

/** Files, folders or names inside the scope; they may be missing. */
export function allOpen(paths: readonly string[], { cwd, scope }: CommandScope): boolean {
  const linked = linkedSecrets(scope);
  return paths.every((path) => {
    const target = targetOf(cwd, path);
    if (target.kind === 'unclear' || !isOpen(target.path, scope)) return false;
    return target.kind !== 'file' || linked.size === 0 || !linked.has(identity(lstatSync(target.path)));
  });
}

/** Secret files with a hard link, which may be anywhere in the root: neither `hide` nor a sandbox covers that. */
const linkedSecrets = ({ secrets }: Scope): ReadonlySet<string> =>
  new Set(
    secrets.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() && stats.nlink > 1 ? [identity(stats)] : [];
    }),
  );

const identity = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Whether a command that finds its files itself may read a secret through a hard link. */
export const mayMeetSecrets = (scope: Scope): boolean => linkedSecrets(scope).size > 0;

/**
 * Second line of defence for values that are not read as files: none of them is an existing path out of scope.
 */
export const noneOutside = (values: readonly string[], { cwd, scope }: CommandScope): boolean =>
  values.every((value) => {
    const target = targetOf(cwd, value);
    return target.kind === 'unclear' || target.kind === 'missing' || isOpen(target.path, scope);
  });

/** The start folders of a recursive search. */
export const foldersOf = (paths: readonly string[], cwd: string): string[] =>
  (paths.length === 0 ? ['.'] : paths).flatMap((path) => {
    const target = targetOf(cwd, path);
    return target.kind === 'folder' ? [target.path] : [];
  });
