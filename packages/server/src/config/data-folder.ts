/**
 * Distinguishes default data folders created by this user's servers from those that came with foreign files.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ConfigError } from './error.ts';

/** git must not run anything that the repository names: the repository is untrusted. */
const GIT = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
  GIT_CONFIG_KEY_2: 'safe.directory',
  GIT_CONFIG_VALUE_2: '*',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
};

/**
 * A data folder decides what the server runs: its configuration names programs, its database contains calls that are
 * resumed. Therefore one that a repository tracks is not used by default. Throws `ConfigError`.
 */
export function refuseTracked(folder: string): void {
  if (!existsSync(folder) || !Bun.which('git')) return;
  const { stdout, exitCode } = Bun.spawnSync(['git', 'ls-files', '-z', '--', basename(folder)], {
    cwd: dirname(folder),
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...GIT },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  if (stdout.length === 0 && (exitCode === 0 || !isInRepository(folder))) return;
  throw new ConfigError(
    `the data folder ${folder} is part of a git repository and may come from somebody else: name it with --data if you trust it`,
  );
}

/** Whether there is a git entry, readable or not. */
function isInRepository(folder: string): boolean {
  const parent = dirname(folder);
  return parent !== folder && (exists(join(parent, '.git')) || isInRepository(parent));
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Folder of the registry of default data folders. It is outside of them, so that an archive cannot contain
 * it. Null if the environment provides no location.
 */
export function registryIn({ XDG_STATE_HOME: state = '', HOME: home = '' }: Environment): string | null {
  const base = isAbsolute(state) ? state : isAbsolute(home) ? join(home, '.local/state') : null;
  return base === null ? null : join(base, 'parlance/data-folders');
}

/** File in the data folder with the name of the registry file that contains the folder's path. */
const ID_FILE = 'id';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a server of this user created the folder at this path. */
export function isRegistered(folder: string, registry: string | null): boolean {
  if (registry === null) return false;
  try {
    const id = readFileSync(join(folder, ID_FILE), 'utf8');
    if (!ID.test(id) || !lstatSync(folder).isDirectory()) return false;
    return readFileSync(join(registry, id), 'utf8') === realpathSync(folder);
  } catch {
    // Missing or unreadable on either side: not registered.
    return false;
  }
}

/** Replaces the id of a copied or moved folder. Returns false if it cannot be written: the folder stays unregistered. */
export function register(folder: string, registry: string | null): boolean {
  if (registry === null) return false;
  const id = crypto.randomUUID();
  try {
    mkdirSync(registry, { recursive: true, mode: 0o700 });
    writeFileSync(join(registry, id), realpathSync(folder), { flag: 'wx', mode: 0o600 });
    rmSync(join(folder, ID_FILE), { force: true });
    writeFileSync(join(folder, ID_FILE), id, { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** A missing or empty folder contains nothing untrusted. */
function isUnused(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && readdirSync(folder).length === 0);
}

/**
 * A default data folder that this user's servers did not create may come from an archive: the server would resume the
 * turns in its database and start the programs in its configuration. Throws `ConfigError`.
 */
export function refuseUnregistered(folder: string, registry: string | null): void {
  if (isUnused(folder) || isRegistered(folder, registry)) return;
  const name = `--data ${basename(folder)}`;
  if (lstatSync(folder).isSymbolicLink())
    throw new ConfigError(`the data folder ${folder} is a link: name it with ${name} if you trust it`);
  throw new ConfigError(
    `the data folder ${folder} is not known to be yours (made by an earlier version, by hand, or by somebody else): start ${registry === null ? '' : 'once '}with ${name} if you trust it`,
  );
}

/** Creates and registers a data folder that is missing or empty; leaves any other unchanged. */
export function beginDataFolder(folder: string, env: Environment): void {
  if (!isUnused(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  register(folder, registryIn(env));
}

/** True for a dangling link as well. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
