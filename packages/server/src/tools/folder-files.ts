/** Files of a working folder for people. Paths are resolved as for tools: no link leads out, and the server's files are hidden. */
import { Fault } from '@parlance/protocol';
import type { FolderEntry, FolderFiles, OpenedFile } from '../core/ports/folder-files.ts';
import { errorCode } from '../lib/errors.ts';
import { type FileLookup, lookUp, markOf } from './checkpoints/entry.ts';
import { TooLarge, walkFolder } from './checkpoints/scan.ts';
import { openForReading, resolvePath } from './confined-path.ts';
import type { Guard } from './guard.ts';
import { entriesOf } from './list-files.ts';

const LISTED = 2_000;
const FOUND = 50;
/** Files and folders that a search looks at. */
const WALKED = 20_000;

export const openFolderFiles = (guard: Guard): FolderFiles => ({
  async list(root, path) {
    await using entry = await resolvePath({ root, ...guard }, path);
    const entries: FolderEntry[] = [];
    let more = false;
    for await (const { name, at } of entriesOf(
      { at: entry.at, path: entry.path, shown: path },
      1,
      guard.hide,
    )) {
      more = entries.length === LISTED;
      if (more) break;
      const found = await lookUp(at);
      if (found) entries.push(entryOf(name, found));
    }
    const isFolder = ({ kind }: FolderEntry) => (kind === 'folder' ? 0 : 1);
    return { entries: entries.toSorted((one, other) => isFolder(one) - isFolder(other)), more };
  },

  async find(root, text, signal) {
    const wanted = text.toLowerCase();
    const found: { readonly path: string; readonly rank: number; readonly at: bigint }[] = [];
    let complete = true;
    try {
      await walkFolder({ root, ...guard }, { maxEntries: WALKED, signal }, (_, path, stat) => {
        const rank = rankOf(path.toLowerCase(), wanted);
        if (rank === null) return;
        // Without a text, files that were just written are likely to be meant, not their folders.
        if (wanted === '' && stat.isDirectory()) return;
        found.push({ path: stat.isDirectory() ? `${path}/` : path, rank, at: stat.mtimeNs });
      });
    } catch (thrown) {
      if (!(thrown instanceof TooLarge)) throw thrown;
      complete = false;
    }
    const paths = found
      .sort(
        (one, other) =>
          one.rank - other.rank ||
          (wanted === '' ? Number(other.at - one.at) : one.path.length - other.path.length) ||
          (one.path < other.path ? -1 : 1),
      )
      .map(({ path }) => path);
    return { paths: paths.slice(0, FOUND), complete };
  },

  async open(root, path): Promise<OpenedFile> {
    const bounds = { root, ...guard };
    await using entry = await resolvePath(bounds, path);
    const file = await openForReading(bounds, entry).catch((cause) => {
      if (cause instanceof Fault) throw cause;
      const reason = errorCode(cause) === 'ENOENT' ? 'There is no file' : 'Cannot open the file';
      throw new Fault('tool_failed', `${reason} ${path}.`, { cause });
    });
    const found = await file.stat({ bigint: true });
    if (!found.isFile()) {
      await file.close();
      throw new Fault('tool_failed', `The path ${path} is not a regular file.`);
    }
    return {
      size: Number(found.size),
      mark: markOf(found),
      async read(position, length) {
        const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, position);
        return buffer.subarray(0, bytesRead);
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  },
});

function entryOf(name: string, found: NonNullable<FileLookup>): FolderEntry {
  const changedAt = Number(found.mtimeMs);
  if (found.isFile()) return { name, kind: 'file', size: Number(found.size), changedAt };
  return {
    name,
    kind: found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'other',
    changedAt,
  };
}

/** Null if it does not match. The name counts more than the folders before it, and its beginning more than the rest. */
function rankOf(path: string, wanted: string): number | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.startsWith(wanted)) return 2;
  if (path.includes(wanted)) return 3;
  // The characters in their order, as in `srcmain` for `src/main.ts`.
  let at = -1;
  for (const character of wanted) {
    at = path.indexOf(character, at + 1);
    if (at === -1) return null;
  }
  return 4;
}
