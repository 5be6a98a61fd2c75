/** Default data folders: which of them this user's servers made, and which came with somebody else's files. */
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

/** git must run nothing that the repository names: it is not known to be the operator's own. */
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
 * A data folder says what the server runs: its configuration names programs, its database holds calls that go on. One that
 * a repository carries is therefore not taken up by default. Throws `ConfigError`.
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

/** Something is there for git, readable to it or not. */
function isInRepository(folder: string): boolean {
  const parent = dirname(folder);
  return parent !== folder && (isThere(join(parent, '.git')) || isInRepository(parent));
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where the server keeps what it knows about default data folders: outside of them, so that no archive brings it along. Null if
 * the environment names no such place.
 */
export function registryIn({ XDG_STATE_HOME: state = '', HOME: home = '' }: Environment): string | null {
  const base = isAbsolute(state) ? state : isAbsolute(home) ? join(home, '.local/state') : null;
  return base === null ? null : join(base, 'parlance/data-folders');
}

/** In the data folder: the name of the file in the registry that holds the folder's path. */
const ID_FILE = 'id';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A server of this user made the folder, and it is still where it was made. */
export function isRegistered(folder: string, registry: string | null): boolean {
  if (registry === null) return false;
  try {
    const id = readFileSync(join(folder, ID_FILE), 'utf8');
    if (!ID.test(id) || !lstatSync(folder).isDirectory()) return false;
    return readFileSync(join(registry, id), 'utf8') === realpathSync(folder);
  } catch {
    // Missing or unreadable on either side: not known.
    return false;
  }
}

/** Replaces the id that a copied or moved folder has. False if it cannot be written: the folder stays unknown. */
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

/** A folder that is missing or empty brings nothing along. */
export function isUnused(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && readdirSync(folder).length === 0);
}

/**
 * A default data folder that this user's servers did not make may come with an archive: the turns in its database would
 * be resumed, and its configuration names programs. Throws `ConfigError`.
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

/** Makes and registers a data folder that is missing or empty; leaves any other as it is. */
export function beginDataFolder(folder: string, env: Environment): void {
  if (!isUnused(folder)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  register(folder, registryIn(env));
}

/** Also true for a link that leads nowhere. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
