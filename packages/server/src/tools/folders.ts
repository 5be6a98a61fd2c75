/** Decides which folders sessions may work in. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { Fault } from '@parlance/protocol';
import type { Folders } from '../core/ports/tool.ts';
import { changesGitFolder, isGitFolder } from './git-folder.ts';
import type { Guard } from './guard.ts';
import { contains, isHidden } from './paths.ts';

export type FolderRules = {
  /** the server's working directory: sessions work there or below */
  readonly root: string;
  /** further folders of the operator: sessions work there or below */
  readonly more?: readonly string[];
  /** true to allow any folder, if the only caller is the user of this process */
  readonly anywhere: boolean;
  readonly guard: Guard;
};

/** Maximum number of folders in a list. */
const MAX_LISTED = 1_000;

export const openFolders = (rules: FolderRules): Folders => ({
  admit: (path) => admit(path, rules),
  async list(path) {
    if (path === null) return { path, parent: null, folders: await rootsOf(rules), cut: false };
    const real = await admit(path, rules);
    const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
    // Links are not followed: what they lead to is listed under its own name, if sessions may work there.
    const names = entries
      .flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []))
      .sort();
    const folders: string[] = [];
    for (const name of names) {
      if (folders.length > MAX_LISTED) break;
      const folder = join(real, name);
      if ((await problemOf(folder, rules)) === null) folders.push(folder);
    }
    const above = dirname(real);
    const parent = above !== real && (await problemOf(above, rules)) === null ? above : null;
    return { path: real, parent, folders: folders.slice(0, MAX_LISTED), cut: folders.length > MAX_LISTED };
  },
  async check(path) {
    const real = await realpath(path).catch(() => null);
    const problem = await problemOf(real === path ? real : null, rules);
    if (problem !== null) throw new Fault('tool_failed', `The folder of this session ${problem}.`);
    const top = await realpath(rules.root);
    return contains(top, path) ? relative(top, path) : '';
  },
});

async function admit(path: string, rules: FolderRules): Promise<string> {
  if (!isAbsolute(path) || path.includes('\0')) throw new Fault('invalid', 'cwd must be an absolute path.');
  const real = await realpath(path).catch(() => null);
  const problem = await problemOf(real, rules);
  if (real === null || problem !== null) throw new Fault('invalid', `cwd ${problem}.`);
  return real;
}

/** Those that exist, without links, the server's working directory first. */
async function rootsOf({ root, more = [] }: FolderRules): Promise<string[]> {
  const found = await Promise.all([root, ...more].map((path) => realpath(path).catch(() => null)));
  return [...new Set(found.filter((path) => path !== null))];
}

/** Null if sessions may work there. `path` has no links; null if it does not exist. */
async function problemOf(path: string | null, rules: FolderRules): Promise<string | null> {
  const { anywhere, guard, more = [] } = rules;
  const top = path === null ? undefined : (await rootsOf(rules)).find((one) => contains(one, path));
  if (path === null || !(top !== undefined || anywhere) || !(await isFolder(path)))
    // The same reason for all cases, so that it reveals nothing about paths outside.
    return anywhere
      ? 'is not an existing folder'
      : `is neither ${more.length > 0 ? 'one of the folders of the server' : 'the working directory of the server'} nor an existing folder inside of ${more.length > 0 ? 'them' : 'it'}`;
  if (isHidden(guard.hide, path)) return 'belongs to the server';
  if (path === top) return null;
  // Protection of these folders checks the path relative to the root of the tools.
  const reserved = (await changesGitFolder(top ?? '/', path)) || (await isGitFolder(path));
  return reserved ? "is git's or Parlance's own folder" : null;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
