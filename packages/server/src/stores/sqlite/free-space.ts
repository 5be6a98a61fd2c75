/** Whether the disk has room for what is asked of it. A probe of one page does not say that. */
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFull } from './errors.ts';

/** With less the store counts as full, although small writes may still fit. */
const LEAST_FREE_BYTES = 1024 * 1024;

/** Rows come with their indexes and whole pages. */
const OVERHEAD_BYTES = 256 * 1024;

const SCRATCH_FILE = 'parlance.scratch';
const PIECE = new Uint8Array(64 * 1024);

export type FreeSpace = {
  /** A write of that size is on the disk. */
  kept(bytes: number): void;
  /** A write of that size failed. */
  failed(error: unknown, bytes: number): void;
  /** Throws where hardly anything is free, or not as much as the last write needed that the disk did not take. */
  check(): Promise<void>;
};

export function watchFreeSpace(folder: string): FreeSpace {
  /** what the disk did not take; null where it took what came */
  let refused: number | null = null;
  return {
    kept(bytes) {
      if (refused !== null && bytes >= refused) refused = null;
    },
    failed(error, bytes) {
      if (isFull(error)) refused = bytes;
    },
    async check() {
      const { blocks, bavail, bsize } = await statfs(folder);
      // A file system that does not count its blocks has none.
      if (blocks > 0 && bavail * bsize < LEAST_FREE_BYTES) throw new NoSpace('hardly anything is free');
      if (refused === null) return;
      const wanted = refused;
      await tryToWrite(join(folder, SCRATCH_FILE), wanted + OVERHEAD_BYTES);
      if (refused === wanted) refused = null;
    },
  };
}

/** Really writes, since a quota is not seen in the figures of the file system. Leaves nothing behind. */
async function tryToWrite(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    for (let left = bytes; left > 0; left -= PIECE.length) await file.write(PIECE);
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

class NoSpace extends Error {
  readonly code = 'ENOSPC';
}
