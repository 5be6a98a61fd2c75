/** A small disk for a test to fill. Mounting needs root on Linux. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = Disposable & {
  readonly path: string;
  /** Fills the disk completely. */
  fill(): void;
  /** Fills the disk except for this many bytes. */
  fillBut(bytes: number): void;
  free(): void;
  readOnly(): void;
};

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: 'pipe' });
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
}

export function mountDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'parlance-disk-'));
  run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path);
  const ballast = join(path, 'ballast');
  const fill = () => {
    const file = openSync(ballast, 'a');
    try {
      for (const size of [4096, 1]) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  };
  return {
    path,
    fill,
    fillBut(bytes) {
      fill();
      truncateSync(ballast, statSync(ballast).size - bytes);
    },
    free: () => rmSync(ballast),
    readOnly: () => run('mount', '-o', 'remount,ro', path),
    [Symbol.dispose]() {
      // Lazy: a killed process may hold a file for a moment longer.
      run('umount', '-l', path);
      rmSync(path, { recursive: true });
    },
  };
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) > 0);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC')) throw thrown;
  }
}

function canMount(): boolean {
  try {
    mountDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

/** Tests on a small disk are skipped if it cannot be mounted; in CI they fail. */
export const noDisk = !process.env.CI && !canMount();
