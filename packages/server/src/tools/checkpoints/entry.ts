/** What is at a path of the working folder: enough to compare it, and to write it again. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { Fault } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { openForReading, resolvePath } from '../confined-path.ts';
import type { Bounds } from '../paths.ts';
import { sha256 } from '../seen.ts';

/**
 * `content` is a hash; of a file whose content is not stored (too large, or it changes while it is read) a stamp that every
 * write changes, which begins with `=`.
 */
export type Entry =
  | { readonly kind: 'file'; readonly mode: number; readonly content: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  /** a socket, a device, a pipe */
  | { readonly kind: 'other'; readonly stamp: string };

/** Null: there is nothing. */
export type State = Entry | null;

/** Files above it are compared, but their content is not stored. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

export const same = (one: State, other: State): boolean => Bun.deepEquals(one, other);

export const isStored = (entry: State): boolean => entry?.kind !== 'file' || !entry.content.startsWith('=');

/** Takes the content of a file with its hash. */
export type Keep = (hash: string, bytes: Uint8Array) => void;

export type FileLookup = Awaited<ReturnType<typeof lookUp>>;

export const lookUp = (at: string) =>
  lstat(at, { bigint: true }).catch((thrown) => {
    if (errorCode(thrown) === undefined) throw thrown;
    return null;
  });

/** Changes whenever the entry is written: no process can set the change time. */
export const markOf = ({ ino, ctimeNs, size }: NonNullable<FileLookup>): string =>
  `${ino}:${ctimeNs}:${size}`;

const MODE = 0o7777n;

/** `at` is the entry itself in a folder that is held open; `openFile` opens it without following links. */
export async function entryAt(
  at: string,
  found: NonNullable<FileLookup>,
  { openFile, keep }: { readonly openFile: () => Promise<FileHandle>; readonly keep: Keep },
): Promise<State> {
  const mode = Number(found.mode & MODE);
  if (found.isDirectory()) return { kind: 'folder', mode };
  if (found.isSymbolicLink()) {
    const target = await readlink(at).catch(() => null);
    return target === null ? null : { kind: 'link', target };
  }
  const stamp = `=${markOf(found)}`;
  if (!found.isFile()) return { kind: 'other', stamp };
  if (found.size > MAX_FILE_BYTES) return { kind: 'file', mode, content: stamp };
  try {
    await using file = await openFile();
    const opened = await file.stat({ bigint: true });
    const bytes = opened.isFile() && opened.size <= MAX_FILE_BYTES ? await contentOf(file, opened) : null;
    if (!bytes) return { kind: 'file', mode, content: stamp };
    const content = sha256(bytes);
    keep(content, bytes);
    return { kind: 'file', mode: Number(opened.mode & MODE), content };
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return null;
    // Not readable, or a hard link to a file of the server.
    if (thrown instanceof Fault || errorCode(thrown) !== undefined)
      return { kind: 'file', mode, content: stamp };
    throw thrown;
  }
}

/** Null if it is not what its size says: it is being written, or has no end. */
async function contentOf(file: FileHandle, before: NonNullable<FileLookup>): Promise<Uint8Array | null> {
  const size = Number(before.size);
  const bytes = new Uint8Array(size + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const after = await file.stat({ bigint: true });
  return length === size && markOf(after) === markOf(before) ? bytes.subarray(0, size) : null;
}

export const openPlain = (at: string): Promise<FileHandle> =>
  open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

/** What is at the path, if no folder on the way is a link. */
export async function look(bounds: Bounds, path: string, keep: Keep = () => undefined): Promise<State> {
  try {
    await using entry = await resolvePath(bounds, path, { follow: false });
    if (entry.linked) return null;
    const found = await lookUp(entry.at);
    return found && (await entryAt(entry.at, found, { openFile: () => openForReading(bounds, entry), keep }));
  } catch (thrown) {
    // A folder on the way is missing, or a link by now.
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}
