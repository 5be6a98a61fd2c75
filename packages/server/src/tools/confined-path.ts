/**
 * Resolves paths in the working directory such that check and use are one operation. Opens each folder on the
 * way relative to the previous one without following links, resolves links itself, and operates on the open
 * folder: a process that swaps a folder for a link in the meantime cannot redirect it.
 *
 * Without /proc (macOS), plain paths are used. There is no sandbox there either, so an attacker gains
 * nothing.
 */
import { constants, existsSync, lstatSync } from 'node:fs';
import { type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../lib/errors.ts';
import { isGitFolder, isReservedName } from './git-folder.ts';
import { type Bounds, contains, exists, hidden, hiddenFrom, isHidden, outside } from './paths.ts';

export type Entry = AsyncDisposable & {
  /**
   * Path for calls that do not follow a final link. Points into the folder that is held open until this is
   * disposed.
   */
  readonly at: string;
  /** its location when resolved: absolute, without links */
  readonly path: string;
  /** whether a link was followed on the way */
  readonly linked: boolean;
};

export type ResolveOptions = {
  /** base of a relative path; the root by default */
  readonly base?: string;
  /** false to get the entry itself, even if it is a link */
  readonly follow?: boolean;
};

export type Change = ResolveOptions & {
  /** create missing folders on the way */
  readonly make?: boolean;
  /** whether a user approved the change of this path */
  readonly approved: boolean;
};

const O_PATH = process.platform === 'linux' ? 0o10000000 : 0;
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH;
const BY_DESCRIPTOR = existsSync('/proc/self/fd');
const MAX_LINKS = 40;

/**
 * Throws a `Fault` if the path is outside the root or hidden, or if a folder on the way is missing. The entry
 * itself need not exist.
 */
export const resolvePath = (bounds: Bounds, path: string, options: ResolveOptions = {}): Promise<Entry> =>
  walked(bounds, { path, ...options }, async (walk) => walk.mustBeThere());

/**
 * Like `reach`, for an entry to be changed: refuses the server's code, and git folders unless named directly
 * and approved.
 */
export const resolveForChange = (bounds: Bounds, path: string, options: Change): Promise<Entry> =>
  walked(bounds, { path, ...options }, async (walk) => {
    if (isReadOnly(bounds, await walk.path())) {
      throw new Fault('tool_invalid', `The path ${path} belongs to the server and cannot be changed.`);
    }
    if ((!options.approved || walk.linked) && (await walk.isReserved())) {
      throw new Fault(
        'tool_invalid',
        `The path ${path} is in a folder whose files are run: it can only be changed under its own name, after approval.`,
      );
    }
    if (options.make) await walk.make();
    else walk.mustBeThere();
  });

async function walked(
  bounds: Bounds,
  { path, base = bounds.root, follow = true }: ResolveOptions & { readonly path: string },
  check: (walk: Walk) => Promise<void>,
): Promise<Entry> {
  const root = await realpath(bounds.root);
  const walk = new Walk(root, path);
  try {
    await walk.go(insideOf(bounds, root, { path, base }), follow);
    if (isHidden(hiddenFrom(root, bounds.hide), await walk.path())) throw hidden(path);
    await check(walk);
    return {
      at: walk.at,
      path: await walk.path(),
      linked: walk.linked,
      [Symbol.asyncDispose]: () => walk.close(),
    };
  } catch (thrown) {
    await walk.close();
    throw thrown;
  }
}

/**
 * Opens a file for reading; does not block and does not follow links. Rejects like `open`, and with a `Fault` for a hard link
 * to a hidden file.
 */
export async function openForReading(bounds: Bounds, entry: Entry): Promise<FileHandle> {
  const file = await open(entry.at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const found = await file.stat({ bigint: true });
  const isSame = (path: string) => {
    const other = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return other?.ino === found.ino && other.dev === found.dev;
  };
  if (found.isDirectory() || found.nlink === 1n || !bounds.hide.some(isSame)) return file;
  await file.close();
  throw hidden(entry.path);
}

export type OpenFolder = { readonly handle: FileHandle; readonly at: string };

/**
 * Holds the folder open; its `at` stays valid even if the folder is moved. Does not follow a final link.
 * Rejects like `open`.
 */
export async function openFolder(at: string): Promise<OpenFolder> {
  const handle = await open(at, FOLDER);
  return { handle, at: BY_DESCRIPTOR ? `/proc/self/fd/${handle.fd}` : at };
}

/** Current location: absolute, links resolved. */
export const presentPath = ({ at }: OpenFolder): Promise<string> =>
  BY_DESCRIPTOR ? readlink(at) : realpath(at);

/** The innermost folder decides. */
export function isReadOnly({ readOnly = [], writable = [] }: Bounds, path: string): boolean {
  const depth = (folders: readonly string[]) =>
    Math.max(-1, ...folders.filter((folder) => contains(folder, path)).map((folder) => folder.length));
  return depth(readOnly) >= Math.max(0, depth(writable));
}

/** The path segments relative to the root. Reads nothing yet. */
function insideOf(
  bounds: Bounds,
  root: string,
  { path, base }: { readonly path: string; readonly base: string },
): string[] {
  const lexical = resolve(base, path);
  const inner = contains(bounds.root, lexical) ? relative(bounds.root, lexical) : relative(root, lexical);
  if (path.includes('\0') || !contains(root, resolve(root, inner))) throw outside(path);
  return inner.split(sep);
}

type Folder = OpenFolder & { readonly name: string };

/** Holds every folder from the root to the entry open. */
class Walk {
  linked = false;
  readonly #root: string;
  /** as requested */
  readonly #shown: string;
  #folders: Folder[] = [];
  /** segments after the last existing folder: the entry, after missing folders */
  #rest: string[] = ['.'];

  constructor(root: string, shown: string) {
    this.#root = root;
    this.#shown = shown;
  }

  get at(): string {
    return `${this.#top.at}/${this.#rest.join('/')}`;
  }

  async path(): Promise<string> {
    return join(await presentPath(this.#top), ...this.#rest);
  }

  async go(names: readonly string[], follow: boolean): Promise<void> {
    this.#folders.push({ ...(await openFolder(this.#root)), name: '' });
    const left = names.filter((name) => name !== '' && name !== '.');
    let links = 0;
    /** number of segments that come from a link */
    let ofLink = 0;
    while (left.length > 0) {
      const name = left.shift() ?? '.';
      const isOfLink = ofLink > 0;
      if (isOfLink) ofLink--;
      if (name === '..') {
        await this.#up();
        continue;
      }
      const target = left.length > 0 || follow ? await targetOf(join(this.#top.at, name)) : null;
      if (target !== null) {
        if (++links > MAX_LINKS) throw this.#broken('has too many links');
        this.linked = true;
        const names = isAbsolute(target) ? await this.#fromRoot(target) : split(target);
        ofLink += names.length;
        left.unshift(...names);
        continue;
      }
      // A dangling link would be created at its target, where it is not expected.
      if (isOfLink && !(await exists(join(this.#top.at, name)))) throw this.#broken('is a dangling link');
      if (left.length === 0) this.#rest = [name];
      else if (!(await this.#into(name))) this.#rest = [name, ...left.splice(0)];
    }
  }

  mustBeThere(): void {
    if (this.#rest.length > 1) throw new Fault('tool_failed', `There is no path ${this.#shown}.`);
  }

  /** Creates the missing folders before the entry. */
  async make(): Promise<void> {
    while (this.#rest.length > 1) {
      const name = this.#rest.shift() ?? '.';
      await mkdir(join(this.#top.at, name)).catch((thrown) => {
        if (errorCode(thrown) !== 'EEXIST') throw thrown;
      });
      if (!(await this.#into(name))) throw this.#broken('cannot be followed');
    }
  }

  /** Whether a change here modifies or creates a git folder or a data folder. */
  async isReserved(): Promise<boolean> {
    const names = [...this.#folders.slice(1).map(({ name }) => name), ...this.#rest];
    if (names.some(isReservedName)) return true;
    for (const [index, { at }] of this.#folders.entries())
      if (await isGitFolder(at, names[index])) return true;
    return false;
  }

  async close(): Promise<void> {
    await Promise.all(this.#folders.splice(0).map(({ handle }) => handle.close()));
  }

  get #top(): Folder {
    const top = this.#folders.at(-1);
    if (!top) throw new Error('the walk is closed');
    return top;
  }

  /** False if the entry does not exist. */
  async #into(name: string): Promise<boolean> {
    try {
      this.#folders.push({ ...(await openFolder(join(this.#top.at, name))), name });
      return true;
    } catch (thrown) {
      if (errorCode(thrown) === 'ENOENT') return false;
      throw this.#broken('cannot be followed', thrown);
    }
  }

  async #up(): Promise<void> {
    if (this.#folders.length === 1) throw outside(this.#shown);
    await this.#folders.pop()?.handle.close();
  }

  /**
   * The segments of an absolute target relative to the root. The real path is only a hint: its segments are
   * resolved like any other.
   */
  async #fromRoot(target: string): Promise<string[]> {
    while (this.#folders.length > 1) await this.#up();
    const path = contains(this.#root, target) ? target : await realpath(target).catch(() => target);
    if (!contains(this.#root, path)) throw outside(this.#shown);
    return split(relative(this.#root, path));
  }

  #broken(why: string, cause?: unknown): Fault {
    return new Fault('tool_failed', `The path ${this.#shown} ${why}.`, { cause });
  }
}

const split = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

/** The link's target; null if it is not a link or does not exist. */
const targetOf = (at: string): Promise<string | null> =>
  readlink(at).catch((thrown) => {
    const code = errorCode(thrown);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return null;
    throw thrown;
  });
