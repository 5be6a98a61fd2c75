/** Decides which folders sessions may work in. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { Fault } from '@parlance/protocol';
import type { Folders } from '../core/ports/tool.ts';
import { changesGitFolder, isGitFolder } from './git-folder.ts';
import type { Guard } from './guard.ts';
import { contains, isHidden } from './paths.ts';

export type FolderRules = {
  /** the server's working directory: sessions work there or below */
  readonly root: string;
  /** true to allow any folder, if the only caller is the user of this process */
  readonly anywhere: boolean;
  readonly guard: Guard;
};

export const openFolders = (rules: FolderRules): Folders => ({
  async admit(path) {
    if (!isAbsolute(path) || path.includes('\0')) throw new Fault('invalid', 'cwd must be an absolute path.');
    const real = await realpath(path).catch(() => null);
    const problem = await problemOf(real, rules);
    if (real === null || problem !== null) throw new Fault('invalid', `cwd ${problem}.`);
    return real;
  },
  async check(path) {
    const real = await realpath(path).catch(() => null);
    const problem = await problemOf(real === path ? real : null, rules);
    if (problem !== null) throw new Fault('tool_failed', `The folder of this session ${problem}.`);
    const top = await realpath(rules.root);
    return contains(top, path) ? relative(top, path) : '';
  },
});

/** Null if sessions may work there. `path` has no links; null if it does not exist. */
async function problemOf(
  path: string | null,
  { root, anywhere, guard }: FolderRules,
): Promise<string | null> {
  const top = await realpath(root);
  const isInside = path !== null && contains(top, path);
  if (path === null || !(isInside || anywhere) || !(await isFolder(path)))
    // The same reason for all cases, so that it reveals nothing about paths outside.
    return anywhere
      ? 'is not an existing folder'
      : 'is neither the working directory of the server nor an existing folder inside of it';
  if (isHidden(guard.hide, path)) return 'belongs to the server';
  if (path === top) return null;
  // Protection of these folders checks the path relative to the root of the tools.
  const reserved = (await changesGitFolder(isInside ? top : '/', path)) || (await isGitFolder(path));
  return reserved ? "is git's or Parlance's own folder" : null;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
