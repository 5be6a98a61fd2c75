/** Finds folders that git or a server would use, including those that a command made hard to find. */
import { chmod, lstat, readdir, realpath, rename } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { Fault } from '@parlance/protocol';
import { resolvePath } from '../confined-path.ts';
import { type Bounds, errorCode } from '../paths.ts';

export const SET_ASIDE = '.set-aside';

/** For `find`: folders that their owner cannot list or enter. */
const UNLISTED = ['!', '-perm', '-500'];

export type Candidates = {
  /** relative to the root: folders that contain a HEAD or are named `.git` */
  readonly git: readonly string[];
  /** relative to the root: folders named like data folders */
  readonly data: readonly string[];
  /** paths that are not UTF-8, as latin1, with a stamp of git's files in them */
  readonly undecodable: ReadonlyMap<string, string>;
};

export async function findCandidates(root: string): Promise<Candidates> {
  const named = ['-name', 'HEAD', '-o', '-name', '.parlance', '-o', '-type', 'd', '-iname', '.git'];
  const unlisted = ['-type', 'd', ...UNLISTED];
  const git = new Set<string>();
  const data: string[] = [];
  const undecodable = new Map<string, string>();
  for (const raw of await find(root, '(', ...named, '-o', ...unlisted, ')')) {
    const isHead = raw.toString('latin1').endsWith('/HEAD');
    const path = decoded(raw);
    if (path === null) undecodable.set(raw.toString('latin1'), await fingerprint(root, raw, isHead));
    else if (basename(path) === '.parlance') data.push(normalize(path));
    else if (isHead) git.add(normalize(dirname(path)));
    else if (basename(path).toLowerCase() === '.git') git.add(normalize(path));
  }
  return { git: [...git], data, undecodable };
}

/**
 * git can read these paths, but nothing here can name them, so they are renamed. Returns the renamed ones.
 */
async function renameUndecodable(bounds: Bounds, before: Candidates['undecodable']): Promise<string[]> {
  const notes: string[] = [];
  const renamed = new Set<string>();
  for (const [path, mark] of (await findCandidates(bounds.root)).undecodable) {
    if (before.get(path) === mark) continue;
    const names = path.split('/');
    const index = names.findIndex((name) => decoded(Buffer.from(name, 'latin1')) === null);
    const first = names.slice(0, index + 1).join('/');
    if (renamed.has(first)) continue;
    renamed.add(first);
    const parent = Buffer.from(names.slice(0, index).join('/'), 'latin1').toString();
    await using entry = await resolvePath(bounds, join(parent, 'x'), { follow: false });
    const folder = dirname(entry.at);
    await makeUsable(folder);
    const shown = `${Buffer.from(names[index] ?? '', 'latin1')}.${crypto.randomUUID().slice(0, 8)}${SET_ASIDE}`;
    await rename(Buffer.from(`${folder}/${names[index]}`, 'latin1'), `${folder}/${shown}`);
    notes.push(`${join(parent, shown)} was renamed: its name was no UTF-8`);
  }
  return notes;
}

/** Afterwards `findCandidates` finds everything new. Returns the renamed paths. */
export async function uncover(bounds: Bounds, before: Candidates['undecodable']): Promise<string[]> {
  await openUnlisted(bounds);
  const notes = await renameUndecodable(bounds, before);
  return notes.length === 0 ? [] : [...notes, ...(await uncover(bounds, before))];
}

/** Folders that their owner cannot list hide their content from the search, but not from git. */
async function openUnlisted(bounds: Bounds): Promise<void> {
  const tried = new Set<string>();
  for (let more = true; more; ) {
    more = false;
    for (const raw of await find(bounds.root, '-type', 'd', ...UNLISTED)) {
      const path = decoded(raw);
      if (path === null || tried.has(path)) continue;
      tried.add(path);
      more = (await opened(bounds, path)) || more;
    }
  }
}

async function opened(bounds: Bounds, path: string): Promise<boolean> {
  try {
    await using entry = await resolvePath(bounds, join(path, 'x'), { follow: false });
    return await makeUsable(dirname(entry.at));
  } catch (thrown) {
    if (thrown instanceof Fault || errorCode(thrown) !== undefined) return false;
    throw thrown;
  }
}

/** False for a folder of another user: the command cannot have created or filled it. */
export async function makeUsable(folder: string): Promise<boolean> {
  try {
    const { mode } = await lstat(`${folder}/.`).catch(() => ({ mode: 0 }));
    if ((mode & 0o700) !== 0o700) await chmod(folder, (mode & 0o7777) | 0o700);
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === undefined) throw thrown;
    return false;
  }
}

const RUN = ['config', 'config.worktree', 'commondir', 'hooks', 'config.json'];

async function fingerprint(root: string, raw: Buffer, isHead: boolean): Promise<string> {
  const base = Buffer.concat([Buffer.from(`${await realpath(root)}/`), raw]);
  const folder = isHead ? base.subarray(0, -'/HEAD'.length) : base;
  const below = (name: Buffer) => Buffer.concat([folder, Buffer.from('/'), name]);
  const hooks = await readdir(below(Buffer.from('hooks')), { encoding: 'buffer' }).catch(() => []);
  const names = [
    ...RUN.map((name) => Buffer.from(name)),
    ...hooks.map((name) => Buffer.concat([Buffer.from('hooks/'), name])),
  ];
  const marks = names.map(async (name) => {
    const found = await lstat(below(name), { bigint: true }).catch(() => null);
    return found && `${name.toString('latin1')}:${found.ino}:${found.ctimeNs}`;
  });
  return (await Promise.all(marks)).join(' ');
}

async function find(root: string, ...expression: string[]): Promise<Buffer[]> {
  const child = Bun.spawn(['find', '.', ...expression, '-print0'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer()).toString('latin1');
  await child.exited;
  return output
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => Buffer.from(path, 'latin1'));
}

/** Null if the bytes are not UTF-8. */
export function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
