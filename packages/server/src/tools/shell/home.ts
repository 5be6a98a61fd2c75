/** Home folders contain keys and tokens: commands without approval see them empty, except for programs. */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { realpathOr } from '../guard.ts';
import { contains } from '../paths.ts';

/** Siblings of a program folder with what the programs load. None is a place for keys. */
const CODE = new Set([
  ...['bin', 'shims', 'lib', 'lib64', 'libexec', 'include', 'versions', 'version', 'installs', 'toolchains'],
  ...['tools', 'plugins'],
]);
/** A home that contains one of these cannot be hidden: nothing would run. */
const SYSTEM = ['/usr', '/etc', '/bin', '/lib'];

type Environment = Readonly<Record<string, string | undefined>>;

/** The home folders of this process as real paths, except those that contain the system or lie in the working directory. */
export function hiddenHomes(environment: Environment, root: string): string[] {
  const named = [environment.HOME, homeOfAccount()].filter((path) => path !== undefined && path !== '');
  const homes = new Set(named.map((path) => realpathOr(resolve(path ?? '/'))));
  return [...homes].filter((home) => !contains(root, home) && !SYSTEM.some((path) => contains(home, path)));
}

/** Mounts for bubblewrap. Those of the working directory, which may be in a home, come after them. */
export function homeMounts(
  homes: readonly string[],
  path: string,
  empty: (home: string) => string[],
): string[] {
  const present = homes.filter((home) => realpathOr(home) === home && isFolder(home));
  const programs = programsIn(present, path);
  return [...present.flatMap(empty), ...programs.flatMap((folder) => ['--ro-bind-try', folder, folder])];
}

/** Undefined for an account without an entry in the system's list. */
function homeOfAccount(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

const isFolder = (path: string): boolean => entriesOf(path) !== null;

const found = new Map<string, string[]>();

/** The folders in `homes` with programs of PATH or targets of links in PATH, and single programs among other files. Computed once, because reading all of PATH is slow. */
function programsIn(homes: readonly string[], path: string): string[] {
  const key = JSON.stringify([homes, path]);
  const cached = found.get(key);
  if (cached) return cached;
  const isHome = (folder: string) => homes.some((home) => contains(home, folder));
  const folders = path.split(delimiter).filter((folder) => folder.startsWith('/'));
  const linked = folders.flatMap(linkedFrom).filter(isHome);
  const alone = linked.filter((program) => !isAmongCode(program));
  const targets = [
    ...folders.flatMap((folder) => [folder, realpathOr(folder)]),
    ...linked.filter(isAmongCode).map((program) => dirname(program)),
  ];
  const code = targets.filter(isHome).flatMap((folder) => codeAround(folder, homes));
  const programs = [...new Set([...code, ...alone])];
  found.set(key, programs);
  return programs;
}

/** The programs that links in a program folder lead to. */
const linkedFrom = (folder: string): string[] =>
  (entriesOf(folder) ?? [])
    .filter((entry) => entry.isSymbolicLink())
    .flatMap((entry) => {
      const target = resolve(folder, readlinkSync(join(folder, entry.name)));
      return isProgram(target) ? [target, realpathOr(target)] : [];
    });

const isAmongCode = (program: string): boolean => CODE.has(basename(dirname(program)));

function isProgram(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isFile() && (found.mode & 0o111) !== 0;
  } catch {
    // Missing, a loop of links, or not readable for this user.
    return false;
  }
}

/** The program folder and its siblings with code. A home itself, or a direct child of it, has no siblings that count. */
function codeAround(folder: string, homes: readonly string[]): string[] {
  if (homes.includes(folder)) return [];
  const parent = dirname(folder);
  if (homes.includes(parent)) return [folder];
  const beside = (entriesOf(parent) ?? []).filter((entry) => CODE.has(entry.name));
  return [folder, ...beside.map((entry) => join(parent, entry.name))];
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return null;
  }
}
