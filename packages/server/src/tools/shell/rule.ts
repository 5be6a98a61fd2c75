/** What the rules of all known-safe programs share. */
import { lstatSync, type Stats } from 'node:fs';
import { isOpen, type Scope, targetOf } from './links.ts';

/** Where a command would run. */
export type Place = {
  /** with every link resolved */
  readonly cwd: string;
  readonly scope: Scope;
};

/** The words to run the program with, or null if a person must be asked. */
export type Rule = (words: readonly string[], place: Place) => Promise<readonly string[] | null>;

/** Files, folders or names inside the scope; what is missing there may be named as well. */
export function allOpen(paths: readonly string[], { cwd, scope }: Place): boolean {
  const linked = linkedSecrets(scope);
  return paths.every((path) => {
    const target = targetOf(cwd, path);
    if (target.kind === 'unclear' || !isOpen(target.path, scope)) return false;
    return target.kind !== 'file' || linked.size === 0 || !linked.has(identity(lstatSync(target.path)));
  });
}

/** Secret files with a second name (a hard link), which may lie anywhere in the root: neither `hide` nor a sandbox covers that. */
const linkedSecrets = ({ secrets }: Scope): ReadonlySet<string> =>
  new Set(
    secrets.flatMap((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isFile() && stats.nlink > 1 ? [identity(stats)] : [];
    }),
  );

const identity = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** Whether a command that finds its files itself may come upon a secret under a second name. */
export const mayMeetSecrets = (scope: Scope): boolean => linkedSecrets(scope).size > 0;

/**
 * A second line of defence for values that are not read as files: none of them is something out of scope that exists.
 */
export const noneOutside = (values: readonly string[], { cwd, scope }: Place): boolean =>
  values.every((value) => {
    const target = targetOf(cwd, value);
    return target.kind === 'unclear' || target.kind === 'missing' || isOpen(target.path, scope);
  });

/** The folders that a recursive search begins in. */
export const foldersOf = (paths: readonly string[], cwd: string): string[] =>
  (paths.length === 0 ? ['.'] : paths).flatMap((path) => {
    const target = targetOf(cwd, path);
    return target.kind === 'folder' ? [target.path] : [];
  });
