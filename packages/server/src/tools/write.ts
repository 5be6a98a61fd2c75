/** Atomic file writes: neither a reader nor a crash sees a partial file. */
import { constants } from 'node:fs';
import { lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../lib/errors.ts';
import type { Entry } from './confined-path.ts';

type WriteOptions = {
  readonly mode?: number | undefined;
  /** called when everything is ready; if it throws, nothing is written */
  readonly check?: () => Promise<void>;
};

/**
 * Writes `content` to the entry. An existing file keeps its mode unless one is given. Replaces, without
 * following, a link that appears in the meantime.
 */
export async function writeWhole(
  entry: Entry,
  content: string | Uint8Array,
  { mode, check }: WriteOptions = {},
): Promise<void> {
  const kept = mode ?? (await modeOf(entry));
  const name = basename(entry.at).slice(0, 100);
  const draft = join(dirname(entry.at), `.${name}.${crypto.randomUUID()}.draft`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = await open(draft, flags, 0o666);
  try {
    try {
      await file.writeFile(content);
      if (kept !== undefined) await file.chmod(kept);
      await file.sync();
    } finally {
      await file.close();
    }
    await check?.();
    await rename(draft, entry.at);
  } catch (thrown) {
    await unlink(draft);
    throw thrown;
  }
}

export async function modeOf({ at }: Entry): Promise<number | undefined> {
  try {
    const found = await lstat(at);
    return found.isSymbolicLink() ? undefined : found.mode & 0o7777;
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
