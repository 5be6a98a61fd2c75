/**
 * The repository of the working directory as unapproved commands see it: its history, index and files, under a
 * configuration that we write. Git takes the programs it runs (external diffs, filters, hooks, monitors, signature checks,
 * remote helpers) only from configuration, so none is left, whatever the repository contains.
 */
import { lstatSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { parseConfig, writeConfig } from './git-config.ts';
import { indexStaysInside } from './git-index.ts';
import { linksStayInside, type Scope } from './scope.ts';

const HEAD = /^(ref: refs\/[^\s\0]+|[0-9a-f]{40})\n?$/;
/** A `commondir` that redirects nothing; see `sandbox.ts`. */
export const SAME_FOLDER = '.\n';
const MAX_BYTES = 1_000_000;
const MAX_INDEX_BYTES = 64_000_000;
/** Rewritten or left out: they name programs, other folders, or belong to other commands. */
const NOT_SHOWN = new Set([
  ...['HEAD', 'config', 'config.worktree', 'hooks', 'info', 'commondir', 'gitdir', 'modules', 'worktrees'],
  ...['index', 'remotes', 'branches', 'lfs'],
]);

/**
 * Whether `root/.git` is a complete folder: neither a file nor a link, nothing shared with another repository, no link and
 * no index entry that leads outside, and in the common format.
 */
export async function repositoryIsPlain(scope: Scope): Promise<boolean> {
  const git = join(scope.root, '.git');
  const isFolder = (path: string) =>
    lstatSync(join(git, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder('.') || !isFolder('objects') || !isFolder('refs')) return false;
  const redirect = join(git, 'commondir');
  if ((await entryOf(redirect)) && (await textOf(redirect)) !== SAME_FOLDER) return false;
  if (await entryOf(join(git, 'objects/info/alternates'))) return false;
  if (!HEAD.test((await textOf(join(git, 'HEAD'))) ?? '')) return false;
  // The stored format differs, and git would need an option for it.
  if (/objectformat|refstorage/i.test((await textOf(join(git, 'config'))) ?? 'objectformat')) return false;
  const shown = await shownIn(git);
  if (shown.some((entry) => entry.isSymbolicLink())) return false;
  if (!(await indexOf(git, scope))) return false;
  const folders = shown.filter((entry) => entry.isDirectory()).map(({ name }) => join(git, name));
  return linksStayInside(folders, scope);
}

const shownIn = async (git: string) =>
  (await readdir(git, { withFileTypes: true })).filter(({ name }) => !NOT_SHOWN.has(name));

type Index = { readonly bytes: Buffer; readonly changed: Date } | 'none';

/** Null if it names a file that git must not read. */
async function indexOf(git: string, scope: Scope): Promise<Index | null> {
  const path = join(git, 'index');
  const entry = await entryOf(path);
  if (!entry) return 'none';
  if (!entry.isFile() || entry.size > MAX_INDEX_BYTES) return null;
  const bytes = await readFile(path);
  return indexStaysInside(bytes, scope) ? { bytes, changed: entry.mtime } : null;
}

export type GitView = {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

/**
 * Throws a `Fault` if the repository is no longer plain. `close` removes the view.
 * @param path search path for git, as in the variable PATH
 */
export async function openGitView(scope: Scope, path: string): Promise<GitView> {
  const git = join(scope.root, '.git');
  const head = await textOf(join(git, 'HEAD'));
  const settings = await settingsOf(join(git, 'config'), path);
  const index = await indexOf(git, scope);
  if (!HEAD.test(head ?? '') || !settings || !index)
    throw new Fault('tool_failed', 'The repository of the working directory cannot be read.');
  const folder = await mkdtemp(join(tmpdir(), 'parlance-git-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(join(folder, 'HEAD'), head ?? '');
    await writeFile(join(folder, 'config'), settings);
    if (index !== 'none') await writeIndex(join(folder, 'index'), index);
    await linkTo(git, folder);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { folder, environment: gitEnvironment(folder, scope.root), close };
}

/** A copy, so that git reads the checked names. Keeps the time, which git compares with those of files. */
async function writeIndex(path: string, { bytes, changed }: Exclude<Index, 'none'>): Promise<void> {
  await writeFile(path, bytes);
  await utimes(path, changed, changed);
}

async function linkTo(git: string, folder: string): Promise<void> {
  for (const entry of await shownIn(git)) {
    const isPlain = entry.isFile() || entry.isDirectory();
    if (isPlain) await symlink(join(git, entry.name), join(folder, entry.name));
  }
  const exclude = join(git, 'info/exclude');
  await mkdir(join(folder, 'info'));
  if ((await entryOf(exclude))?.isFile()) await symlink(exclude, join(folder, 'info/exclude'));
}

/** Second line of defence: these apply even if git finds another repository. */
const OFF: Record<string, string> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'diff.ignoreSubmodules': 'all',
  'diff.submodule': 'short',
  'gpg.program': '/dev/null',
  'gpg.ssh.program': '/dev/null',
  'gpg.x509.program': '/dev/null',
  // With more threads, git uses an index extension that locates the entries.
  'index.threads': '1',
  'log.showSignature': 'false',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
};

const gitEnvironment = (folder: string, root: string): Record<string, string> => ({
  GIT_DIR: folder,
  GIT_WORK_TREE: root,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_PAGER: 'cat',
  GIT_CONFIG_COUNT: String(Object.keys(OFF).length),
  ...Object.fromEntries(
    Object.entries(OFF).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

/** Settings that are copied: how files are compared, and which branch tracks which. None of them names a program. */
const KEPT = [
  { key: /^core\.(filemode|ignorecase|symlinks|autocrlf|eol|precomposeunicode|quotepath)$/, value: /^\w*$/ },
  { key: /^branch\.[^\n]+\.(remote|merge)$/, value: /^[^\p{Cc}]*$/u },
  { key: /^remote\.[^\n]+\.fetch$/, value: /^[^\p{Cc}]*$/u },
];

/** Our configuration; null if the repository's own cannot be read. Includes are not followed. */
async function settingsOf(config: string, path: string): Promise<string | null> {
  const text = await textOf(config);
  const pairs = text === null ? null : await parseConfig(Buffer.from(text), path);
  if (!pairs) return null;
  const kept = pairs.filter(([key, value]) =>
    KEPT.some((one) => one.key.test(key) && one.value.test(value ?? 'true')),
  );
  return writeConfig([['core.repositoryformatversion', '0'], ['core.bare', 'false'], ...kept]);
}

const entryOf = (path: string) =>
  lstat(path).catch((thrown) => {
    if (errorCode(thrown) === 'ENOENT' || errorCode(thrown) === 'ENOTDIR') return null;
    throw thrown;
  });

/** Only for a regular file of a reasonable size. */
async function textOf(path: string): Promise<string | null> {
  const entry = await entryOf(path);
  return entry?.isFile() && entry.size <= MAX_BYTES ? readFile(path, 'utf8') : null;
}
