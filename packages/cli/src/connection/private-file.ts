/** Files that only their owner can read: logins, settings with keys, histories. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

const folderIn = (given: string | undefined, home: string | undefined, fallback: string): string =>
  given !== undefined && isAbsolute(given)
    ? join(given, 'parlance')
    : join(home && isAbsolute(home) ? home : homedir(), fallback, 'parlance');

/** Settings of the user, such as logins. */
export const configFolder = ({ XDG_CONFIG_HOME, HOME }: Environment = process.env): string =>
  folderIn(XDG_CONFIG_HOME, HOME, '.config');

/** Data that may be lost, such as the message history. */
export const stateFolder = ({ XDG_STATE_HOME, HOME }: Environment = process.env): string =>
  folderIn(XDG_STATE_HOME, HOME, '.local/state');

/** Atomically replaces the file, with mode 0600, in a folder with mode 0700. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}.part`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Null if it does not exist. */
export function readPrivate(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
