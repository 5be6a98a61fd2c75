/** A temporary folder for one test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Declare with `using`: removed at the end of the block. */
export function scratchFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'parlance-store-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
