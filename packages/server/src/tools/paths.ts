/** Restricts tools to the working directory, links included. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../lib/errors.ts';
import { type Guard, realpathOr } from './guard.ts';

export type Bounds = Guard & {
  /** the working directory, absolute */
  readonly root: string;
};

export type ConfinedPath = {
  /** absolute, with every link resolved; it need not exist */
  readonly path: string;
  /** the directory entry itself: links before it are resolved, its own is not followed */
  readonly entry: string;
  /** relative to the root, for display */
  readonly name: string;
};

/**
 * Resolves `path` (relative to `base`, or absolute). Throws a `Fault` if it is outside the root or hidden.
 * The result is a snapshot for display only: to use a file, call `reach`.
 */
export async function confine(bounds: Bounds, path: string, base = bounds.root): Promise<ConfinedPath> {
  const root = await realpath(bounds.root);
  const lexical = resolve(base, path);
  const inner = contains(bounds.root, lexical) ? relative(bounds.root, lexical) : relative(root, lexical);
  const target = resolve(root, inner);
  if (path.includes('\0') || !contains(root, target)) throw outside(path);
  const place = {
    path: await resolveLinks(target, path),
    entry: target === root ? root : join(await resolveLinks(dirname(target), path), basename(target)),
    name: inner === '' ? '.' : inner,
  };
  if (!contains(root, place.path) || !contains(root, place.entry)) throw outside(path);
  if (isHidden(hiddenFrom(root, bounds.hide), place.path)) throw hidden(path);
  return place;
}

/** Whether `path` is `folder` or inside of it. Both absolute; reads nothing. */
export function contains(folder: string, path: string): boolean {
  const between = relative(folder, path);
  return between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between);
}

/**
 * A relative path in the form that rules use. `folder` is the session's, relative to the server's working
 * directory.
 */
export const inFolder = (folder: string, path: string): string =>
  folder === '' ? path : `${folder}${sep}${path}`;

/** Whether `path`, links resolved, is one of these or inside of one. */
export const isHidden = (hide: readonly string[], path: string): boolean =>
  hide.some((place) => contains(realpathOr(resolve(place)), path));

/** What is hidden from tools that work in `root` (links resolved): a worktree is in a folder of the server, and itself not hidden. */
export const hiddenFrom = (root: string, hide: readonly string[]): readonly string[] =>
  hide.filter((place) => !contains(realpathOr(resolve(place)), root));

export const hidden = (path: string) =>
  new Fault('tool_invalid', `The path ${path} belongs to the server and is closed to tools.`);

export const outside = (path: string) =>
  new Fault('tool_invalid', `The path ${JSON.stringify(path)} is outside the working folder.`);

/** The real path of the nearest existing parent, with the missing rest appended. */
async function resolveLinks(path: string, shown: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (thrown) {
    if (errorCode(thrown) !== 'ENOENT' || dirname(path) === path) {
      throw new Fault('tool_failed', `The path ${shown} cannot be followed.`, { cause: thrown });
    }
    // A dangling link would be created at its target, which was not checked.
    if (await exists(path)) throw new Fault('tool_failed', `The path ${shown} is a dangling link.`);
    return join(await resolveLinks(dirname(path), shown), basename(path));
  }
}

/** True for a link as well, dangling or not. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
