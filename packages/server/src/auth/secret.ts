/** The key that signs tokens. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const MIN_BYTES = 32;
/** in the data folder */
export const SECRET_FILE = 'secret';

const isErrorOf = (thrown: unknown, code: string) =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;

async function readKept(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (thrown) {
    if (isErrorOf(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

/** Written in full beside its place, then linked into it: of two servers that start at once, both use the first one's. */
async function keepNew(path: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(48).toString('base64url')}\n`);
    await file.sync();
    await link(draft, path);
  } catch (thrown) {
    if (!isErrorOf(thrown, 'EEXIST')) throw thrown;
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/**
 * The secret that was given, or the one in `<data>/secret`, which is made on first use and readable by its owner only.
 * Throws where the kept one is too short to be trusted.
 */
export async function loadSecret(data: string, given?: string): Promise<Uint8Array<ArrayBuffer>> {
  if (given !== undefined) return new TextEncoder().encode(given);
  const path = join(data, SECRET_FILE);
  let kept = await readKept(path);
  if (kept === null) {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await keepNew(path);
    kept = await readKept(path);
  }
  const secret = new TextEncoder().encode(kept ?? '');
  if (secret.length < MIN_BYTES)
    throw new Error(
      `the secret in ${path} is shorter than ${MIN_BYTES} bytes: remove the file to have a new one made`,
    );
  // A copied data folder may have lost the mode.
  await chmod(path, 0o600);
  return secret;
}
