/** Signing key of tokens. */
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../lib/errors.ts';

const MIN_BYTES = 32;
/** in the data folder */
export const SECRET_FILE = 'secret';

async function readKept(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

/** Written to a temporary file, then linked: if two servers start concurrently, both use the secret of the first. */
async function keepNew(path: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(48).toString('base64url')}\n`);
    await file.sync();
    await link(draft, path);
  } catch (thrown) {
    if (errorCode(thrown) !== 'EEXIST') throw thrown;
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/** The secret in the data folder; null if there is none yet. */
export async function storedSecret(data: string): Promise<Uint8Array<ArrayBuffer> | null> {
  const kept = await readKept(join(data, SECRET_FILE));
  return kept === null ? null : new TextEncoder().encode(kept);
}

/**
 * Returns the configured secret, or the one in `<data>/secret`, which is created on first use and readable only by its
 * owner. Throws if the stored secret is too short.
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
      `the secret in ${path} is shorter than ${MIN_BYTES} bytes: remove the file to create a new one`,
    );
  // A copied data folder may have lost the file mode.
  await chmod(path, 0o600);
  return secret;
}
