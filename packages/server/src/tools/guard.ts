/** Protects the server's own files: what tools may not see, and what they may not change. */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from 'node:fs';

/** Paths are absolute with links resolved. Read them at each call: a folder may have been moved since. */
export type Guard = {
  /** files and folders hidden from tools */
  readonly hide: readonly string[];
  /** folders that tools may read but not change */
  readonly readOnly?: readonly string[];
  /** folders inside of those that tools may change */
  readonly writable?: readonly string[];
};

/** From Linux: a descriptor that identifies a file without the right to read it. */
const O_PATH = 0o10000000;

/**
 * Holds a descriptor of every entry in `hide`, so that it stays hidden if it is moved. A path that does not exist yet is
 * hidden by its name.
 */
export function openGuard({ hide, readOnly = [], writable = [] }: Guard): Guard & { close(): void } {
  const held = process.platform === 'linux' ? hide.flatMap(hold) : [];
  return {
    get hide() {
      return outermost([...hide.map(realpathOr), ...held.flatMap(presentPath)]);
    },
    readOnly: readOnly.map(realpathOr),
    get writable() {
      return writable.map(realpathOr);
    },
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
});

function hold(path: string): number[] {
  try {
    return [openSync(path, O_PATH | constants.O_NOFOLLOW)];
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
    throw thrown;
  }
}

/** Empty if it was deleted. */
const presentPath = (descriptor: number): string[] =>
  fstatSync(descriptor).nlink === 0 ? [] : [readlinkSync(`/proc/self/fd/${descriptor}`)];

export function realpathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
