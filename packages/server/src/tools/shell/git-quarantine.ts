/**
 * Neutralizes files that a command leaves to be run outside the sandbox: git runs programs
 * named in the configuration and hooks of a repository, and a later server those named in a data folder.
 * Reasons: docs/decisions/0010.
 */
import { chmod, lstat, readdir, readlink, realpath, rename } from 'node:fs/promises';
import { basename, dirname, join, normalize, relative, resolve } from 'node:path';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { type Entry, openForReading, resolvePath } from '../confined-path.ts';
import { isGitFolder } from '../git-folder.ts';
import { type Bounds, contains } from '../paths.ts';
import { writeWhole } from '../write.ts';
import { harmful, type Pair, parseConfig, writeConfig } from './git-config.ts';

const CONFIGS = ['config', 'config.worktree'];
const CONFIG_BYTES = 1_000_000;

/** State before the command, by device and inode of the folder. */
type GitFolder = {
  readonly configs: ReadonlyMap<string, { readonly mark: string | null; readonly pairs: readonly Pair[] }>;
  /** hooks and redirections, with a stamp that changes when they are written */
  readonly runs: ReadonlySet<string>;
  /** names that are links: a mount over one does not prevent its replacement */
  readonly links: ReadonlySet<string>;
};
type Snapshot = {
  readonly git: ReadonlyMap<string, GitFolder>;
  readonly data: ReadonlySet<string>;
  readonly undecodable: Candidates['undecodable'];
};

export type Watch = {
  /** Call when no process of the command is running any more. Returns a line per changed folder. */
  settle(): Promise<string[]>;
};

type Shared = { readonly snapshot: Promise<Snapshot>; commands: number };
const shared = new Map<string, Shared>();

/**
 * Starts before the command. Concurrent commands share the state before the first of them, so that none can
 * pass off what another has left as the user's own.
 */
export async function watchGitFolders(bounds: Bounds): Promise<Watch> {
  const known = shared.get(bounds.root) ?? { snapshot: takeSnapshot(bounds), commands: 0 };
  shared.set(bounds.root, known);
  known.commands++;
  const done = () => {
    known.commands--;
    if (known.commands === 0 && shared.get(bounds.root) === known) shared.delete(bounds.root);
  };
  try {
    const before = await known.snapshot;
    return { settle: () => makeHarmless(bounds, before).finally(done) };
  } catch (thrown) {
    done();
    throw thrown;
  }
}

async function takeSnapshot(bounds: Bounds): Promise<Snapshot> {
  const { git, data, undecodable } = await findCandidates(bounds.root);
  const folders = new Map<string, GitFolder>();
  for (const path of git) {
    const id = await idOf(bounds, path);
    if (id === null || !(await isGit(bounds, path))) continue;
    const configs: GitFolder['configs'] = new Map(
      await Promise.all(
        CONFIGS.map(async (name) => {
          const file = join(path, name);
          const mark = await markOf(bounds, file);
          return [name, { mark, pairs: (await pairsOf(bounds, file)).pairs }] as const;
        }),
      ),
    );
    const runs = new Set((await runsIn(bounds, path)).map(({ mark }) => mark));
    folders.set(id, { configs, runs, links: await linksIn(bounds, path) });
  }
  const ids = await Promise.all(data.map((path) => idOf(bounds, path)));
  return { git: folders, data: new Set(ids.filter((id) => id !== null)), undecodable };
}

async function makeHarmless(bounds: Bounds, before: Snapshot): Promise<string[]> {
  const notes = await uncover(bounds, before.undecodable);
  const { git, data } = await findCandidates(bounds.root);
  for (const path of data) {
    const id = await idOf(bounds, path);
    if (id === null || before.data.has(id)) continue;
    await setAside(bounds, path);
    notes.push(`${path} was renamed: it would configure a server`);
  }
  for (const path of git) {
    if (!(await isGit(bounds, path))) continue;
    const id = await idOf(bounds, path);
    const known = id === null ? undefined : before.git.get(id);
    const changed = [
      ...(await cleanConfigs(bounds, path, known)),
      ...(await cleanRuns(bounds, path, { known, folders: git })),
    ];
    if (changed.length > 0) notes.push(`${path}: ${changed.join(', ')}`);
  }
  return notes;
}

async function cleanConfigs(bounds: Bounds, path: string, known: GitFolder | undefined): Promise<string[]> {
  const notes: string[] = [];
  for (const name of CONFIGS) {
    const file = join(path, name);
    const before = known?.configs.get(name);
    if (before?.mark && isMounted(path, name, known)) continue;
    if (before && before.mark === (await markOf(bounds, file))) continue;
    const { pairs, isPlain } = await pairsOf(bounds, file);
    const bad = harmful(pairs, before?.pairs ?? []);
    if (isPlain && bad.length === 0) continue;
    await using entry = await resolvePath(bounds, file, { follow: false });
    await makeUsable(dirname(entry.at));
    await writeWhole(entry, writeConfig(pairs.filter((pair) => !bad.includes(pair))));
    notes.push(
      isPlain ? `${bad.map(([key]) => key).join(', ')} removed from ${name}` : `${name} written anew`,
    );
  }
  return notes;
}

/** A common folder is left alone if it is one of the git folders that are checked themselves. */
async function cleanRuns(
  bounds: Bounds,
  path: string,
  { known, folders }: { readonly known: GitFolder | undefined; readonly folders: readonly string[] },
): Promise<string[]> {
  const notes: string[] = [];
  for (const { name, mark, leadsTo } of await runsIn(bounds, path)) {
    if (known?.runs.has(mark) || isMounted(path, name, known)) continue;
    if (leadsTo !== undefined && folders.includes(leadsTo)) continue;
    await setAside(bounds, join(path, name));
    notes.push(`${name} set aside`);
  }
  return notes;
}

/** Of a repository in the root these are read-only in the sandbox: if they changed, the command did not do it. */
function isMounted(path: string, name: string, known: GitFolder | undefined): boolean {
  const [mounted = ''] = name.split('/');
  return (
    path === '.git' && known?.links.has(mounted) === false && (name === 'config' || name.startsWith('hooks/'))
  );
}

async function linksIn(bounds: Bounds, path: string): Promise<Set<string>> {
  const links = new Set<string>();
  for (const name of [...CONFIGS, 'hooks']) {
    const isLink = await withEntry(bounds, join(path, name), async ({ at }) =>
      (await lstat(at)).isSymbolicLink(),
    );
    if (isLink) links.add(name);
  }
  return links;
}

type Run = { readonly name: string; readonly mark: string; readonly leadsTo?: string };

/** Hooks that git would run, and the file that redirects it to hooks and configuration elsewhere. */
async function runsIn(bounds: Bounds, path: string): Promise<Run[]> {
  const found: Run[] = [];
  const add = async (name: string, leadsTo?: string) => {
    const mark = await markOf(bounds, join(path, name));
    if (mark !== null)
      found.push({ name, mark: `${name} ${mark}`, ...(leadsTo === undefined ? {} : { leadsTo }) });
  };
  const common = await textOf(bounds, join(path, 'commondir'));
  if (common !== null) await add('commondir', await commonFolder(bounds, path, common));
  else await add('commondir');
  const hooks = await namesIn(bounds, join(path, 'hooks'));
  if (hooks === null) await add('hooks');
  for (const name of hooks ?? [])
    if (!name.endsWith('.sample') && !name.endsWith(SET_ASIDE)) await add(join('hooks', name));
  return found;
}

/** Relative to the root, as git reads it; undefined if the target is not obvious. */
async function commonFolder(bounds: Bounds, path: string, text: Uint8Array): Promise<string | undefined> {
  const target = decoded(text)?.replace(/[\r\n]+$/, '');
  // After a link, `..` is not what it seems; git stops reading at a NUL.
  if (target === undefined || target.includes('\0') || /[^/.][^/]*\/+\.\.(\/|$)/.test(target))
    return undefined;
  const root = await realpath(bounds.root);
  const folder = resolve(root, path, target);
  const real = await realpath(folder).catch(() => null);
  return real === folder ? relative(root, folder) || '.' : undefined;
}

/** A folder named `.git` may still become one: `git init` keeps existing configuration and hooks. */
async function isGit(bounds: Bounds, path: string): Promise<boolean> {
  if (basename(path).toLowerCase() === '.git') return true;
  return (await withEntry(bounds, path, (entry) => isGitFolder(entry.at))) ?? false;
}

const idOf = (bounds: Bounds, path: string): Promise<string | null> =>
  withEntry(bounds, path, async ({ at }) => {
    const { dev, ino } = await lstat(at, { bigint: true });
    return `${dev}:${ino}`;
  });

/** Changes whenever the entry is written or replaced: no process can set the change time. */
const markOf = (bounds: Bounds, path: string): Promise<string | null> =>
  withEntry(bounds, path, async ({ at }) => {
    const found = await lstat(at, { bigint: true });
    const target = found.isSymbolicLink() ? await readlink(at) : '';
    return `${found.ino}:${found.ctimeNs}:${found.size}:${target}`;
  });

/** Null if it is missing or not a folder; also for a link to one. */
const namesIn = (bounds: Bounds, path: string): Promise<string[] | null> =>
  withEntry(bounds, path, async ({ at }) => ((await lstat(at)).isDirectory() ? readdir(at) : null));

/** Null if it is missing or not a regular file. */
const textOf = (bounds: Bounds, path: string): Promise<Uint8Array | null> =>
  withEntry(bounds, path, async (entry) => {
    if (!(await lstat(entry.at)).isFile()) return null;
    await using file = await openForReading(bounds, entry);
    const { size } = await file.stat();
    return size > CONFIG_BYTES ? null : await file.readFile();
  });

/** A missing file has no pairs and is plain; a link, a folder or a text that git cannot read is not. */
async function pairsOf(bounds: Bounds, path: string): Promise<{ pairs: readonly Pair[]; isPlain: boolean }> {
  const text = await textOf(bounds, path);
  if (text === null) return { pairs: [], isPlain: (await markOf(bounds, path)) === null };
  const pairs = await parseConfig(text);
  return { pairs: pairs ?? [], isPlain: pairs !== null };
}

async function setAside(bounds: Bounds, path: string): Promise<void> {
  await using entry = await resolvePath(bounds, path, { follow: false });
  await makeUsable(dirname(entry.at));
  await rename(entry.at, `${entry.at}.${crypto.randomUUID().slice(0, 8)}${SET_ASIDE}`);
}

/** Null if the entry is gone, or cannot be reached without a link. */
async function withEntry<Result>(
  bounds: Bounds,
  path: string,
  use: (entry: Entry) => Promise<Result>,
): Promise<Result | null> {
  try {
    await using entry = await resolvePath(bounds, path, { follow: false });
    return entry.linked || !contains(bounds.root, entry.path) ? null : await use(entry);
  } catch (thrown) {
    if (thrown instanceof Fault || errorCode(thrown) !== undefined) return null;
    throw thrown;
  }
}

// Finds folders that git or a server would use, including those that a command made hard to find.

const SET_ASIDE = '.set-aside';

/** For `find`: folders that their owner cannot list or enter. */
const UNLISTED = ['!', '-perm', '-500'];

type Candidates = {
  /** relative to the root: folders that contain a HEAD or are named `.git` */
  readonly git: readonly string[];
  /** relative to the root: folders named like data folders */
  readonly data: readonly string[];
  /** paths that are not UTF-8, as latin1, with a stamp of git's files in them */
  readonly undecodable: ReadonlyMap<string, string>;
};

async function findCandidates(root: string): Promise<Candidates> {
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
async function uncover(bounds: Bounds, before: Candidates['undecodable']): Promise<string[]> {
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
async function makeUsable(folder: string): Promise<boolean> {
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
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
