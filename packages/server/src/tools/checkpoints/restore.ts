/** Writes an earlier state of a path, if what is there is still what was looked at. */
import { chmod, mkdir, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Fault, type FileChange } from '@parlance/protocol';
import { errorCode } from '../../lib/errors.ts';
import { openFolder, openForReading, type Entry as Place, resolveForChange } from '../confined-path.ts';
import type { Bounds } from '../paths.ts';
import { writeWhole } from '../write.ts';
import { type Entry, entryAt, lookUp, type State, same } from './entry.ts';

export const CHANGED = 'it has changed in the meantime';

/** The content with that hash, of the file at that path; null if it is not stored. */
type Content = (hash: string, path: string) => Uint8Array | null | Promise<Uint8Array | null>;

export type Step = { readonly path: string; readonly before: State; readonly after: State };

/** Writes the states of all paths that are not kept already. Resolves with why each path is kept, or with null. Can be repeated after a crash. */
export async function applyAll<One extends Step & { readonly kept: string | null }>(
  bounds: Bounds,
  files: readonly One[],
  content: Content,
): Promise<One[]> {
  const outcome = new Map(files.map((file) => [file.path, file.kept]));
  const depth = ({ path }: Step) => path.split('/').length;
  const run = async (ordered: readonly One[], phase: 'remove' | 'make') => {
    for (const file of ordered) {
      if (outcome.get(file.path) !== null) continue;
      outcome.set(file.path, await apply(bounds, file, phase, content));
    }
  };
  await run(
    files.toSorted((a, b) => depth(b) - depth(a)),
    'remove',
  );
  await run(
    files.toSorted((a, b) => depth(a) - depth(b)),
    'make',
  );
  return files.map((file) => ({ ...file, kept: outcome.get(file.path) ?? null }));
}

/** Null if nothing changes. A folder ends in a slash. */
export function changeOf(path: string, before: State, after: State): FileChange | null {
  if (same(before, after)) return null;
  const change = before === null ? 'added' : after === null ? 'deleted' : 'modified';
  return { path: shownPath({ path, before, after }), change };
}

export const shownPath = ({ path, before, after }: Step): string =>
  (after ?? before)?.kind === 'folder' ? `${path}/` : path;

/**
 * `remove` takes away what the new state cannot replace; `make` writes the new one. Resolves with why the path is kept, or with null.
 * Both can be repeated after a crash.
 */
async function apply(
  bounds: Bounds,
  { path, before, after }: Step,
  phase: 'remove' | 'make',
  content: Content,
): Promise<string | null> {
  const isReplaced =
    before !== null && after !== null && (before.kind === 'folder') !== (after.kind === 'folder');
  const isRemoved = before !== null && (after === null || isReplaced);
  if (phase === 'remove' ? !isRemoved : after === null) return null;
  try {
    await using place = await resolveForChange(bounds, path, { follow: false, approved: false });
    if (place.linked) return 'a folder on the way is a link now';
    const now = await stateAt(bounds, place);
    if (same(now, after)) return null;
    const isExpected = same(now, before) || (isReplaced && now === null);
    if (!isExpected) return CHANGED;
    if (phase === 'remove') await (before?.kind === 'folder' ? rmdir(place.at) : now && unlink(place.at));
    else if (after)
      await make(bounds, place, { path, now, before: isReplaced ? null : before, after }, content);
    return null;
  } catch (thrown) {
    return reasonOf(thrown);
  }
}

const stateAt = async (bounds: Bounds, place: Place): Promise<State> => {
  const found = await lookUp(place.at);
  const openFile = () => openForReading(bounds, place);
  return found && entryAt(place.at, found, { openFile, keep: () => undefined });
};

async function make(
  bounds: Bounds,
  place: Place,
  {
    path,
    now,
    before,
    after,
  }: Pick<Step, 'path' | 'before'> & { readonly now: State; readonly after: Entry },
  content: Content,
): Promise<void> {
  switch (after.kind) {
    case 'folder': {
      if (now === null) await mkdir(place.at);
      const folder = await openFolder(place.at);
      await using _handle = folder.handle;
      return await chmod(folder.at, after.mode);
    }
    case 'link': {
      const draft = join(dirname(place.at), `.${crypto.randomUUID()}.draft`);
      await symlink(after.target, draft);
      return await rename(draft, place.at).catch(async (thrown) => {
        await unlink(draft);
        throw thrown;
      });
    }
    case 'file': {
      const bytes = await content(after.content, path);
      if (!bytes) throw new Fault('tool_failed', 'its earlier content is not stored');
      return await writeWhole(place, bytes, {
        mode: after.mode,
        check: async () => {
          if (!same(await stateAt(bounds, place), before)) throw new Fault('tool_failed', CHANGED);
        },
      });
    }
    case 'other':
      throw new Fault('tool_failed', `${basename(place.path)} was neither a file nor a folder`);
  }
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message.replace(/\.$/, '');
  const code = errorCode(thrown);
  if (code === undefined) throw thrown;
  return code === 'ENOTEMPTY' ? 'it is not empty' : `the file system answered ${code}`;
}
