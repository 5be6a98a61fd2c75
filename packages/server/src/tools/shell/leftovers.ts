/**
 * Neutralizes files that a command leaves to be run outside the sandbox: git runs programs
 * named in the configuration and hooks of a repository, and a later server those named in a data folder.
 * Reasons: docs/decisions/0010.
 */
import { lstat, readdir, readlink, realpath, rename } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Fault } from '@parlance/protocol';
import { type Entry, openForReading, resolvePath } from '../confined-path.ts';
import { isGitFolder } from '../git-folder.ts';
import { type Bounds, contains, errorCode } from '../paths.ts';
import { writeWhole } from '../write.ts';
import { harmful, type Pair, parseConfig, writeConfig } from './git-config.ts';
import {
  type Candidates,
  decoded,
  findCandidates,
  makeUsable,
  SET_ASIDE,
  uncover,
} from './leftover-folders.ts';

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
 * pass off another's leftovers as the user's own.
 */
export async function watchLeftovers(bounds: Bounds): Promise<Watch> {
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
    const file = await openForReading(bounds, entry);
    try {
      const { size } = await file.stat();
      return size > CONFIG_BYTES ? null : await file.readFile();
    } finally {
      await file.close();
    }
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
