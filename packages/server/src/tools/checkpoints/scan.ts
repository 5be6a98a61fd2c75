/** Looks at all files of a working folder. Only what has changed since the last look is read. */
import { readdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { type OpenFolder, openFolder } from '../confined-path.ts';
import { isReservedName } from '../git-folder.ts';
import { realpathOr } from '../guard.ts';
import type { Bounds } from '../paths.ts';
import {
  type Entry,
  entryAt,
  type FileLookup,
  isStored,
  type Keep,
  lookUp,
  MAX_FILE_BYTES,
  markOf,
  openPlain,
} from './entry.ts';

export type Seen = {
  readonly entry: Entry;
  readonly mark: string;
  /** false if it was written so shortly before that a later write might have the same time */
  readonly isSettled: boolean;
};

/** By path, relative to the folder. */
export type Manifest = ReadonlyMap<string, Seen>;

export type ScanOptions = {
  /** the last look: what is in it stays in, even if a rule ignores it by now */
  readonly known: Manifest;
  readonly isKept: (hash: string) => boolean;
  readonly keep: Keep;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
};

/** Why there is no checkpoint of a folder. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** Contents of packages: too many files, and they can be installed again. */
const PACKAGES = 'node_modules';
const MAX_DEPTH = 100;
const AT_ONCE = 64;
/** File systems stamp times in steps of a few milliseconds. */
const STEP_MS = 50;

/** Throws `TooLarge` above a limit. */
export async function scan(bounds: Bounds, options: ScanOptions): Promise<Manifest> {
  const { known, isKept, keep, maxBytes } = options;
  const entries = new Map<string, Seen>();
  const unread = new Map<string, string[]>();
  const root = await realpath(bounds.root);
  const hide = bounds.hide.map((path) => realpathOr(resolve(path)));
  const startedAt = Date.now();
  let bytes = 0;
  await walkFolder(bounds, options, (folder, path, found) => {
    if (found.isFile() && found.size <= MAX_FILE_BYTES) bytes += Number(found.size);
    if (bytes > maxBytes) throw new TooLarge(`the folder has more than ${megabytes(maxBytes)} of files`);
    const mark = markOf(found);
    const before = known.get(path);
    if (found.isDirectory()) {
      const mode = Number(found.mode & 0o7777n);
      entries.set(path, { entry: { kind: 'folder', mode }, mark, isSettled: true });
    } else if (before?.isSettled && before.mark === mark && hasContent(before.entry, isKept))
      entries.set(path, before);
    else {
      const paths = unread.get(folder);
      if (paths) paths.push(path);
      else unread.set(folder, [path]);
    }
  });
  for (const [folder, paths] of unread) {
    const opened = await openBelow(root, folder);
    if (!opened) continue;
    await using _handle = opened.handle;
    for (const path of paths) {
      options.signal?.throwIfAborted();
      const at = join(opened.at, path.slice(folder.length));
      const found = await lookUp(at);
      if (!found) continue;
      const hidden = hide.length > 0 && found.nlink > 1n && (await isOneOf(hide, found));
      const entry = hidden ? null : await entryAt(at, found, { openFile: () => openPlain(at), keep });
      const isSettled = Number(found.ctimeNs / 1_000_000n) < startedAt - STEP_MS;
      if (entry) entries.set(path, { entry, mark: markOf(found), isSettled });
    }
  }
  return entries;
}

/**
 * Visits everything but git folders, packages, hidden files and what `.gitignore` files name, without following links. Throws
 * `TooLarge` above a limit.
 */
export async function walkFolder(
  bounds: Bounds,
  options: Pick<ScanOptions, 'maxEntries' | 'signal'> & { readonly known?: Manifest },
  visit: Visit,
): Promise<void> {
  const root = await realpath(bounds.root);
  const hide = bounds.hide.map((path) => realpathOr(resolve(path)));
  await new Walk({ known: new Map(), ...options, root, hide }).go(visit);
}

const hasContent = (entry: Entry, isKept: ScanOptions['isKept']): boolean =>
  entry.kind !== 'file' || !isStored(entry) || isKept(entry.content);

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** Whether the file is another name of a file of the server. */
async function isOneOf(paths: readonly string[], { ino, dev }: NonNullable<FileLookup>): Promise<boolean> {
  const others = await Promise.all(paths.map(lookUp));
  return others.some((other) => other?.ino === ino && other.dev === dev);
}

/** Folder by folder, without following a link. Null if one is missing or a link by now. */
async function openBelow(root: string, folder: string): Promise<OpenFolder | null> {
  let opened = await openFolder(root);
  for (const name of folder.split('/').filter((part) => part !== '')) {
    const outer = opened;
    try {
      opened = await openFolder(join(outer.at, name));
    } catch (thrown) {
      if (errorCode(thrown) === undefined) throw thrown;
      return null;
    } finally {
      await outer.handle.close();
    }
  }
  return opened;
}

type WalkOptions = Pick<ScanOptions, 'known' | 'maxEntries' | 'signal'> & {
  readonly root: string;
  readonly hide: readonly string[];
};

/** `folder` ends in a slash, or is empty for the top. */
type Visit = (folder: string, path: string, found: NonNullable<FileLookup>) => void;

class Walk {
  #count = 0;

  constructor(private readonly options: WalkOptions) {}

  async go(visit: Visit): Promise<void> {
    const opened = await openFolder(this.options.root);
    await using _handle = opened.handle;
    await this.#enter(opened, { folder: '', rules: new IgnoreRules(), depth: 0 }, visit);
  }

  async #enter(
    opened: OpenFolder,
    { folder, rules: outer, depth }: { folder: string; rules: IgnoreRules; depth: number },
    visit: Visit,
  ): Promise<void> {
    const { known, maxEntries, signal, root, hide } = this.options;
    if (depth > MAX_DEPTH) throw new TooLarge(`the folder is more than ${MAX_DEPTH} levels deep`);
    const names: string[] = await readdir(opened.at).catch(() => []);
    this.#count += names.length;
    if (this.#count > maxEntries)
      throw new TooLarge(`the folder has more than ${maxEntries.toLocaleString('en')} files`);
    if (isGit(names)) return;
    const rules = names.includes('.gitignore') ? await withIgnored(outer, opened, folder) : outer;
    // Names that are no UTF-8 cannot be written as they are.
    const shown = names.filter(
      (name) =>
        !isReservedName(name) &&
        name !== PACKAGES &&
        !name.includes('\ufffd') &&
        !hide.includes(join(root, folder, name)),
    );
    const folders: string[] = [];
    for (let from = 0; from < shown.length; from += AT_ONCE) {
      signal?.throwIfAborted();
      const part = shown.slice(from, from + AT_ONCE);
      const found = await Promise.all(part.map((name) => lookUp(join(opened.at, name))));
      for (const [index, name] of part.entries()) {
        const stat = found[index];
        const path = `${folder}${name}`;
        if (!stat || (!known.has(path) && rules.ignores(path, stat.isDirectory()))) continue;
        visit(folder, path, stat);
        if (stat.isDirectory()) folders.push(name);
      }
    }
    for (const name of folders) {
      const inner = await openFolder(join(opened.at, name)).catch((thrown) => {
        if (errorCode(thrown) === undefined) throw thrown;
        return null;
      });
      if (!inner) continue;
      await using _handle = inner.handle;
      await this.#enter(inner, { folder: `${folder}${name}/`, rules, depth: depth + 1 }, visit);
    }
  }
}

/** The folder of a repository under any name: its files decide what git runs. */
const isGit = (names: readonly string[]): boolean =>
  names.includes('HEAD') && ['objects', 'refs', 'commondir', 'config'].some((name) => names.includes(name));

async function withIgnored(rules: IgnoreRules, { at }: OpenFolder, folder: string): Promise<IgnoreRules> {
  const path = join(at, '.gitignore');
  const found = await lookUp(path);
  if (!found?.isFile() || found.size > MAX_IGNORE_BYTES) return rules;
  try {
    await using file = await openPlain(path);
    if (!(await file.stat()).isFile()) return rules;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_IGNORE_BYTES), 0, MAX_IGNORE_BYTES, 0);
    return rules.with(folder, buffer.toString('utf8', 0, bytesRead));
  } catch (thrown) {
    if (errorCode(thrown) === undefined || thrown instanceof Fault) throw thrown;
    return rules;
  }
}

//

/** Rules of `.gitignore` files, read as data: nothing of a repository is run or configured by them. */

type Rule = {
  /** the folder of the file, with a slash at its end; empty for the top */
  readonly base: string;
  readonly glob: Bun.Glob;
  readonly isNegated: boolean;
  readonly onlyFolders: boolean;
};

const MAX_RULES = 1_000;
const MAX_PATTERN = 1_000;
/** Of all rules together: patterns come from the repository, and each is compared with every new file. */
export const MAX_IGNORE_BYTES = 64 * 1024;

export class IgnoreRules {
  constructor(private readonly rules: readonly Rule[] = []) {}

  /** With the rules of a file in that folder, which come after the others. */
  with(base: string, text: string): IgnoreRules {
    const added = text.split(/\r?\n/).flatMap((line) => ruleOf(base, line) ?? []);
    return new IgnoreRules([...this.rules, ...added].slice(0, MAX_RULES));
  }

  /** Whether the last rule that matches ignores the path. */
  ignores(path: string, isFolder: boolean): boolean {
    const last = this.rules.findLast(
      ({ base, glob, onlyFolders }) =>
        (isFolder || !onlyFolders) && path.startsWith(base) && glob.match(path.slice(base.length)),
    );
    return last !== undefined && !last.isNegated;
  }
}

function ruleOf(base: string, line: string): Rule | null {
  let pattern = line.replace(/(?<!\\)[ \t]+$/, '');
  if (pattern === '' || pattern.startsWith('#') || pattern.length > MAX_PATTERN) return null;
  const isNegated = pattern.startsWith('!');
  if (isNegated) pattern = pattern.slice(1);
  const onlyFolders = pattern.endsWith('/');
  if (onlyFolders) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes('/');
  pattern = pattern.replace(/^\/+/, '');
  if (pattern === '') return null;
  // Braces are no alternatives in these files; a leading `!` would negate the glob.
  const literal = pattern.replace(/(?<!\\)[{}]/g, '\\$&').replace(/^!/, '\\!');
  return { base, glob: new Bun.Glob(isAnchored ? literal : `**/${literal}`), isNegated, onlyFolders };
}
