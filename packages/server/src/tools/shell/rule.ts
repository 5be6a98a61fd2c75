/** Shared parts of the rules for known-safe programs. */
import { lstatSync, type Stats } from 'node:fs';
import { isOpen, type Scope, targetOf } from './links.ts';

/** Where a command would run. */
export type CommandScope = {
  /** with every link resolved */
  readonly cwd: string;
  readonly scope: Scope;
};

/** The words to run the program with, or null if approval is needed. */
export type Rule = (words: readonly string[], place: CommandScope) => Promise<readonly string[] | null>;

/** Files, folders or names inside the scope; they may be missing. */
export function allOpen(paths: readonly string[], { cwd, scope }: CommandScope): boolean {
  const linked = linkedSecrets(scope);
  return paths.every((path) => {
    const target = targetOf(cwd, path);
    if (target.kind === 'unclear' || !isOpen(target.path, scope)) return false;
    return target.kind !== 'file' || linked.size === 0 || !linked.has(identity(lstatSync(target.path)));
  });
}

/** Secret files with a hard link, which may be anywhere in the root: neither `hide` nor a sandbox covers that. */
const linkedSecrets = ({ secrets }: Scope): ReadonlySet<string> =>
  new Set(
    secrets.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() && stats.nlink > 1 ? [identity(stats)] : [];
    }),
  );

const identity = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Whether a command that finds its files itself may read a secret through a hard link. */
export const mayMeetSecrets = (scope: Scope): boolean => linkedSecrets(scope).size > 0;

/**
 * Second line of defence for values that are not read as files: none of them is an existing path out of scope.
 */
export const noneOutside = (values: readonly string[], { cwd, scope }: CommandScope): boolean =>
  values.every((value) => {
    const target = targetOf(cwd, value);
    return target.kind === 'unclear' || target.kind === 'missing' || isOpen(target.path, scope);
  });

/** The start folders of a recursive search. */
export const foldersOf = (paths: readonly string[], cwd: string): string[] =>
  (paths.length === 0 ? ['.'] : paths).flatMap((path) => {
    const target = targetOf(cwd, path);
    return target.kind === 'folder' ? [target.path] : [];
  });
