/**
 * Applies a patch to the working folder. Every path is checked before anything changes, and each again right before its
 * own change. Files are changed one after another: what was applied before a failure stays, and the outcome says so.
 */
import { readFile, stat, unlink } from 'node:fs/promises';
import { Fault } from '@parlance/protocol';
import { type Bounds, confine, errorCode, exists, type Place } from '../paths.ts';
import { modeOf, writeWhole } from '../write.ts';
import { type Change, pathsOf } from './parse.ts';
import { rewrite } from './rewrite.ts';

export type Applied = {
  /** "A path", "M path" or "D path", in the order of the patch */
  readonly done: string[];
  /** why the patch stopped; absent where all of it was applied */
  readonly failure?: string;
};

export type Applying = {
  readonly bounds: Bounds;
  /** paths are relative to it */
  readonly base: string;
  readonly signal: AbortSignal;
  /** whether an existing file, as the patch names it, may be replaced */
  readonly mayReplace: (path: string) => boolean;
};

/** Throws a `Fault`, with nothing changed, where a path leaves the bounds. */
export async function applyPatch(changes: readonly Change[], applying: Applying): Promise<Applied> {
  const { bounds, base, signal, mayReplace } = applying;
  for (const path of pathsOf(changes)) await confine(bounds, path, base);
  const done: string[] = [];
  const find = (path: string) => confine(bounds, path, base);
  const made = new Set<string>();
  const replaces = async (path: string, place: Place) => {
    if (!(await exists(place.path))) return false;
    await mustBeFile(place.path);
    if (!made.has(path) && !mayReplace(path))
      throw new Fault(
        'tool_failed',
        `${path} exists by now, and the approval did not say that it is replaced`,
      );
    return true;
  };
  for (const change of changes) {
    if (signal.aborted) return { done, failure: 'it was aborted' };
    try {
      done.push(await applyChange(change, find, replaces));
      made.add(targetOf(change));
    } catch (thrown) {
      return { done, failure: `${change.path}: ${reasonOf(thrown)}` };
    }
  }
  return { done };
}

/** Whether every hunk finds its lines in the files as they are now. */
export async function fits(changes: readonly Change[], bounds: Bounds, base: string): Promise<boolean> {
  try {
    for (const change of changes) {
      if (change.kind !== 'update') continue;
      const { path } = await confine(bounds, change.path, base);
      await mustBeFile(path);
      rewrite(await readText(path), change.hunks);
    }
    return true;
  } catch (thrown) {
    reasonOf(thrown);
    return false;
  }
}

/** Existing files that the patch replaces: by adding them, or by moving another onto them. */
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

async function applyChange(
  change: Change,
  find: (path: string) => Promise<Place>,
  replaces: (path: string, place: Place) => Promise<boolean>,
): Promise<string> {
  const place = await find(change.path);
  switch (change.kind) {
    case 'add': {
      const replaced = await replaces(change.path, place);
      await writeWhole(place.path, change.lines.map((line) => `${line}\n`).join(''));
      return replaced ? `A ${change.path} (replaced)` : `A ${change.path}`;
    }
    case 'delete': {
      await mustBeFile(place.path);
      await unlink(place.entry);
      return `D ${change.path}`;
    }
    case 'update': {
      await mustBeFile(place.path);
      const content = rewrite(await readText(place.path), change.hunks);
      if (change.moveTo === undefined) {
        await writeWhole((await find(change.path)).path, content);
        return `M ${change.path}`;
      }
      const target = await find(change.moveTo);
      const replaced = target.path !== place.path && (await replaces(change.moveTo, target));
      await writeWhole(target.path, content, await modeOf(place.path));
      if (target.path !== place.path) await unlink(place.entry);
      return `M ${change.moveTo} (was ${change.path}${replaced ? ', replaced' : ''})`;
    }
  }
}

async function mustBeFile(path: string): Promise<void> {
  if (!(await exists(path))) throw new Fault('tool_failed', 'there is no such file');
  if (!(await stat(path)).isFile()) throw new Fault('tool_failed', 'it is not a file');
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Fault('tool_failed', 'it is not text in UTF-8', { cause });
  }
}

/** A file system that refuses is an outcome of the patch; anything else is a bug and goes on. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message;
  const code = errorCode(thrown);
  if (code === undefined) throw thrown;
  return `the file system answered ${code}`;
}
