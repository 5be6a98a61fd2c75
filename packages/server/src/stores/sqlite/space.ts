/** Free disk space, and the space in use. A one-page probe does not show whether a larger write would fit. */
import type { Database } from 'bun:sqlite';
import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFull } from './errors.ts';

/** Below this, the store counts as full, although small writes may still fit. */
const MIN_FREE_BYTES = 1024 * 1024;

/** Rows are written in whole pages, together with their indexes. */
const OVERHEAD_BYTES = 256 * 1024;

const SCRATCH_FILE = 'parlance.scratch';
const PIECE = new Uint8Array(64 * 1024);

export type FreeSpace = {
  /** Records that a write of that size succeeded. */
  kept(bytes: number): void;
  /** Records that a write of that size failed. */
  failed(error: unknown, bytes: number): void;
  /** Throws if hardly any space is free, or less than the last failed write needed. */
  check(): Promise<void>;
};

export function watchFreeSpace(folder: string): FreeSpace {
  /** size of the last failed write; null after a success */
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
      // Some file systems report no block count.
      if (blocks > 0 && bavail * bsize < MIN_FREE_BYTES) throw new NoSpace('hardly anything is free');
      if (refused === null) return;
      const wanted = refused;
      await tryToWrite(join(folder, SCRATCH_FILE), wanted + OVERHEAD_BYTES);
      if (refused === wanted) refused = null;
    },
  };
}

/** Writes a real file, because quotas are not visible in file system statistics. Removes it afterwards. */
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

// Approximate size of all data in bytes.

/**
 * Measures the database again after this relative growth, or after this time, because other processes write
 * as well.
 */
const GROWTH = 0.01;
const AGAIN_MS = 1_000;

interface Size {
  current(): number;
  add(characters: number): void;
  /** Call if data may have been removed. */
  forget(): void;
}

export function prepareSize(database: Database): Size {
  // Counts used pages, since freed pages are reused before the file grows.
  const statement = database.prepare<{ bytes: number }, []>(
    `SELECT (page_count - freelist_count) * page_size AS bytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  let measured = 0;
  let added = 0;
  let nextMeasurement = 0;
  return {
    current() {
      const now = performance.now();
      if (now >= nextMeasurement || added > measured * GROWTH) {
        measured = statement.get()?.bytes ?? 0;
        added = 0;
        nextMeasurement = now + AGAIN_MS;
      }
      return measured + added;
    },
    add(characters) {
      added += characters;
    },
    forget() {
      nextMeasurement = 0;
    },
  };
}
