/** What the rules of all known-safe programs share. */
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
export const allOpen = (paths: readonly string[], { cwd, scope }: Place): boolean =>
  paths.every((path) => {
    const target = targetOf(cwd, path);
    return target.kind !== 'unclear' && isOpen(target.path, scope);
  });

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
