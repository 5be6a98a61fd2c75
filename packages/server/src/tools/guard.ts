/** Protects the server's own files from tools. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { errorCode } from '../lib/errors.ts';

/** Paths are absolute, without links. Read them at each call, since a folder may have moved. */
export type Guard = {
  /** files and folders hidden from tools */
  readonly hide: readonly string[];
  /** files and folders that tools may read but not change; those that do not exist, they may not create */
  readonly readOnly?: readonly string[];
  /** folders inside the read-only ones that tools may change */
  readonly writable?: readonly string[];
  /** the server's working directory, and further folders whose files a person trusts */
  readonly trust?: { readonly root: string; readonly folders: readonly string[] };
  /** the folder that another is a copy of: its files are trusted as much */
  readonly originOf?: (root: string) => string | undefined;
};

/** Linux flag: a descriptor that identifies a file without read permission. */
const O_PATH = 0o10000000;

/**
 * Holds a descriptor of every entry in `hide`, so that it stays hidden if moved. A path that does not exist
 * yet is hidden by name.
 */
export function openGuard({
  hide,
  readOnly = [],
  writable = [],
  trust,
  originOf,
}: Guard): Guard & { close(): void } {
  const held = process.platform === 'linux' ? hide.flatMap(hold) : [];
  return {
    get hide() {
      return outermost([...hide.map(realpathOr), ...held.flatMap(presentPath)]);
    },
    readOnly: readOnly.map(realpathOr),
    get writable() {
      return writable.map(realpathOr);
    },
    ...(trust && { trust }),
    ...(originOf && { originOf }),
    close: () => held.splice(0).forEach(closeSync),
  };
}

const outermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));

/** The options with the guard's paths, read at each call. */
export const withGuard = <Options extends object>(guard: Guard, options: Options): Options & Guard => ({
  ...options,
  get hide() {
    return guard.hide;
  },
  get readOnly() {
    return guard.readOnly ?? [];
  },
  get writable() {
    return guard.writable ?? [];
  },
  ...(guard.trust && { trust: guard.trust }),
  ...(guard.originOf && { originOf: guard.originOf }),
});

function hold(path: string): number[] {
  try {
    return [openSync(path, O_PATH | constants.O_NOFOLLOW)];
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

/** Empty if the entry was deleted. */
const presentPath = (descriptor: number): string[] =>
  fstatSync(descriptor).nlink === 0 ? [] : [readlinkSync(`/proc/self/fd/${descriptor}`)];

export function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
