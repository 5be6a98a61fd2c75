/** Writing a file so that no reader, and no crash, ever sees half of it. */
import { constants } from 'node:fs';
import { mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './paths.ts';

/**
 * Puts `content` at `path`, whose links the caller has resolved, and makes the folders before it. An existing file keeps
 * its mode, or takes the one that is given. A link that appears at `path` meanwhile is replaced, not followed.
 */
export async function writeWhole(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const kept = mode ?? (await modeOf(path));
  const draft = join(folder, `.${basename(path).slice(0, 100)}.${crypto.randomUUID()}.draft`);
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
    await rename(draft, path);
  } catch (thrown) {
    await unlink(draft);
    throw thrown;
  }
}

export async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o7777;
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
