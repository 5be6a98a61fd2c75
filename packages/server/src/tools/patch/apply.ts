/**
 * Applies a patch to the working directory. Checks every path before anything changes, and resolves it again
 * for its own change. Files are changed one at a time: changes before a failure stay, and the outcome lists
 * them.
 */

import { lstat, unlink } from 'node:fs/promises';
import { Fault } from '@parlance/protocol';
import { type Change, pathsOf } from '@parlance/protocol/patch';
import { errorCode } from '../../lib/errors.ts';
import { type Entry, openForReading, resolveForChange, resolvePath } from '../confined-path.ts';
import { type Bounds, confine, exists } from '../paths.ts';
import { contentOf, mustBeSeen, type Seen, type Subject } from '../seen.ts';
import { modeOf, writeWhole } from '../write.ts';
import { rewrite } from './rewrite.ts';

export type PatchResult = {
  /** "A path", "M path" or "D path", in the order of the patch */
  readonly done: string[];
  /** why the patch stopped; absent if it was applied completely */
  readonly failure?: string;
};

export type PatchOptions = {
  readonly bounds: Bounds;
  /** paths are relative to it */
  readonly base: string;
  readonly signal: AbortSignal;
  /** whether a user approved the patch */
  readonly approved: boolean;
  /** whether an existing file, as named in the patch, may be replaced */
  readonly mayReplace: (path: string) => boolean;
  /** the files that were there when the approval was requested */
  readonly seen: Seen;
};

/** The files of a patch as they are before it. */
export function subjectsOf(changes: readonly Change[]): Subject[] {
  const subjects = new Map<string, Subject>();
  const add = (path: string, isLost: boolean) => {
    if (!subjects.has(path)) subjects.set(path, { path, isLost });
  };
  for (const change of changes) {
    add(change.path, change.kind !== 'update');
    if (change.kind === 'update' && change.moveTo !== undefined) add(change.moveTo, true);
  }
  return [...subjects.values()];
}

/** Throws a `Fault`, with nothing changed, if a path is out of bounds. */
export async function applyPatch(changes: readonly Change[], options: PatchOptions): Promise<PatchResult> {
  for (const path of pathsOf(changes)) await confine(options.bounds, path, options.base);
  const done: string[] = [];
  const made = new Set<string>();
  const mayReplace = (path: string) => made.has(path) || options.mayReplace(path);
  const { bounds, seen } = options;
  // All of them first, so that the patch is not applied in part; then each one again when it is written.
  for (const subject of subjectsOf(changes)) {
    const { path } = await confine(bounds, subject.path, options.base);
    try {
      await mustBeSeen(seen, subject, { entry: { path, at: path }, bounds });
    } catch (thrown) {
      return { done, failure: reasonOf(thrown) };
    }
  }
  const check = (path: string, entry: Entry, isLost: boolean) =>
    mustBeSeen(made.has(path) ? null : seen, { path, isLost }, { entry, bounds });
  for (const change of changes) {
    if (options.signal.aborted) return { done, failure: 'it was aborted' };
    try {
      done.push(await applyChange(change, { ...options, mayReplace, check }));
      made.add(change.path).add(targetOf(change));
    } catch (thrown) {
      return { done, failure: `${change.path}: ${reasonOf(thrown)}` };
    }
  }
  return { done };
}

/** Whether every hunk matches the current files. */
export async function fits(changes: readonly Change[], bounds: Bounds, base: string): Promise<boolean> {
  try {
    for (const change of changes) {
      if (change.kind !== 'update') continue;
      await using entry = await resolvePath(bounds, change.path, { base });
      rewrite(await readText(bounds, entry), change.hunks);
    }
    return true;
  } catch (thrown) {
    reasonOf(thrown);
    return false;
  }
}

/** Existing files that the patch replaces, by adding or by moving onto them. */
export async function replacedBy(
  changes: readonly Change[],
  bounds: Bounds,
  base: string,
): Promise<string[]> {
  const replaced: string[] = [];
  for (const change of changes) {
    if (change.kind !== 'add' && !(change.kind === 'update' && change.moveTo !== undefined)) continue;
    const target = await confine(bounds, targetOf(change), base);
    const stays = change.kind === 'update' && (await confine(bounds, change.path, base)).path === target.path;
    if (!stays && (await exists(target.path))) replaced.push(targetOf(change));
  }
  return replaced;
}

const targetOf = (change: Change): string =>
  change.kind === 'update' ? (change.moveTo ?? change.path) : change.path;

type ChangeOptions = PatchOptions & {
  readonly check: (path: string, entry: Entry, isLost: boolean) => Promise<void>;
};

async function applyChange(change: Change, options: ChangeOptions): Promise<string> {
  const { bounds, base, approved, check } = options;
  const to = { base, approved };
  switch (change.kind) {
    case 'add': {
      await using entry = await resolveForChange(bounds, change.path, { ...to, make: true });
      const replaced = await replaces(change.path, entry, options);
      await writeWhole(entry, change.lines.map((line) => `${line}\n`).join(''), {
        check: () => check(change.path, entry, true),
      });
      return replaced ? `A ${change.path} (replaced)` : `A ${change.path}`;
    }
    case 'delete': {
      await using file = await resolveForChange(bounds, change.path, to);
      await mustBeFile(file);
      await check(change.path, file, true);
      await remove(change.path, options);
      return `D ${change.path}`;
    }
    case 'update': {
      await using entry = await resolveForChange(bounds, change.path, to);
      await check(change.path, entry, false);
      const before = await contentOf(entry.at);
      const content = rewrite(await readText(bounds, entry), change.hunks);
      if (change.moveTo === undefined) {
        await writeWhole(entry, content, {
          check: async () => {
            if ((await contentOf(entry.at)) !== before)
              throw new Fault('tool_failed', 'it has changed in the meantime. Read it again');
          },
        });
        return `M ${change.path}`;
      }
      await using target = await resolveForChange(bounds, change.moveTo, { ...to, make: true });
      const moved = target.path !== entry.path;
      const replaced = moved && (await replaces(change.moveTo, target, options));
      const { moveTo } = change;
      await writeWhole(target, content, {
        mode: await modeOf(entry),
        ...(moved ? { check: () => check(moveTo, target, true) } : {}),
      });
      if (moved) await remove(change.path, options);
      return `M ${change.moveTo} (was ${change.path}${replaced ? ', replaced' : ''})`;
    }
  }
}

/** Removes the entry itself, not the target of a link. */
async function remove(path: string, { bounds, base, approved }: PatchOptions): Promise<void> {
  await using entry = await resolveForChange(bounds, path, { base, approved, follow: false });
  await unlink(entry.at);
}

async function replaces(path: string, entry: Entry, { mayReplace }: PatchOptions): Promise<boolean> {
  if (!(await exists(entry.at))) return false;
  await mustBeFile(entry);
  if (!mayReplace(path))
    throw new Fault('tool_failed', `${path} exists now, and replacing it was not approved`);
  return true;
}

async function mustBeFile({ at }: Entry): Promise<void> {
  if (!(await exists(at))) throw new Fault('tool_failed', 'there is no such file');
  if (!(await lstat(at)).isFile()) throw new Fault('tool_failed', 'it is not a file');
}

/** Throws a `Fault` if it is not text in UTF-8. */
export async function readText(bounds: Bounds, entry: Entry): Promise<string> {
  await mustBeFile(entry);
  await using file = await openForReading(bounds, entry);
  if (!(await file.stat()).isFile()) throw new Fault('tool_failed', 'it is not a file');
  const bytes = await file.readFile();
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault('tool_failed', 'it is not text in UTF-8', { cause });
  }
}

/** A file system error is an outcome of the patch; anything else is a bug and is rethrown. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message;
  const code = errorCode(thrown);
  if (code === undefined) throw thrown;
  return `the file system answered ${code}`;
}
