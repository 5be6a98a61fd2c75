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

/** Throws a `Fault`, with nothing changed, where a path leaves the bounds. Paths are relative to `base`. */
export async function applyPatch(
  changes: readonly Change[],
  bounds: Bounds,
  base: string,
  signal: AbortSignal,
): Promise<Applied> {
  for (const path of pathsOf(changes)) await confine(bounds, path, base);
  const done: string[] = [];
  for (const change of changes) {
    if (signal.aborted) return { done, failure: 'it was aborted' };
    try {
      done.push(await applyChange(change, (path) => confine(bounds, path, base)));
    } catch (thrown) {
      return { done, failure: `${change.path}: ${reasonOf(thrown)}` };
    }
  }
  return { done };
}

async function applyChange(change: Change, find: (path: string) => Promise<Place>): Promise<string> {
  const place = await find(change.path);
  switch (change.kind) {
    case 'add': {
      if (await exists(place.path)) throw new Fault('tool_failed', 'the file exists already');
      await writeWhole(place.path, change.lines.map((line) => `${line}\n`).join(''));
      return `A ${change.path}`;
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
      if (target.path !== place.path && (await exists(target.path))) {
        throw new Fault('tool_failed', `${change.moveTo} exists already`);
      }
      await writeWhole(target.path, content, await modeOf(place.path));
      if (target.path !== place.path) await unlink(place.entry);
      return `M ${change.moveTo} (was ${change.path})`;
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
