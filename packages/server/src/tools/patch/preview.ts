/** The files of a patch before it is applied, for those who decide about it. */

import { type Ask, Fault } from '@parlance/protocol';
import type { Change } from '@parlance/protocol/patch';
import { errorCode } from '../../lib/errors.ts';
import { resolvePath } from '../confined-path.ts';
import type { Bounds } from '../paths.ts';
import { readText } from './apply.ts';
import { hunkLines } from './rewrite.ts';

export type PatchedFiles = NonNullable<Ask['files']>;

/** Of all deleted files together; more than anybody reads before deciding. */
const MAX_CHARACTERS = 100_000;

/** Where each hunk begins, and what deleted files contain. A file that is missing, too long or not text is left out. */
export async function previewOf(
  changes: readonly Change[],
  bounds: Bounds,
  base: string,
): Promise<PatchedFiles> {
  const files: PatchedFiles = [];
  let room = MAX_CHARACTERS;
  for (const change of changes) {
    if (change.kind === 'add') continue;
    const { path } = change;
    const text = await orNull(() => contentOf(path, bounds, base));
    if (text === null) continue;
    if (change.kind === 'update') {
      const hunks = await orNull(async () => hunkLines(text, change.hunks));
      if (hunks) files.push({ path, hunks });
    } else if (text.length <= room) {
      room -= text.length;
      files.push({ path, content: text });
    }
  }
  return files;
}

async function contentOf(path: string, bounds: Bounds, base: string): Promise<string> {
  await using entry = await resolvePath(bounds, path, { base });
  return await readText(bounds, entry);
}

/** Null if the file cannot be read or a hunk does not match: applying the patch reports why. */
async function orNull<Result>(work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof Fault || errorCode(thrown) !== undefined) return null;
    throw thrown;
  }
}
