/** Detects git folders: git runs programs named in their hooks and configuration. */
import { join, relative, sep } from 'node:path';
import { exists } from './paths.ts';

const PARTS = ['objects', 'refs', 'commondir', 'config'];

/**
 * Whether `folder` has the layout of a git folder, whatever its name, or would have it with an entry
 * `coming`. Errs on the side of yes.
 */
export async function isGitFolder(folder: string, coming?: string): Promise<boolean> {
  const has = async (name: string) => name === coming || (await exists(join(folder, name)));
  if (!(await has('HEAD'))) return false;
  for (const part of PARTS) if (await has(part)) return true;
  return false;
}

/** Whether a write to `path` (absolute, links resolved, under `root`) would change or create a git folder. */
export async function changesGitFolder(root: string, path: string): Promise<boolean> {
  let folder = root;
  for (const name of relative(root, path).split(sep)) {
    if (isReservedName(name) || (await isGitFolder(folder, name))) return true;
    folder = join(folder, name);
  }
  return false;
}

/**
 * Names of git folders and data folders, whose contents name programs to run. Compared case-insensitively, as
 * some file systems do.
 */
export const isReservedName = (name: string): boolean => RESERVED.has(name.toLowerCase());

const RESERVED = new Set(['.git', '.parlance']);
