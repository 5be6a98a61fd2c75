/** A folder for one test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** To be held with `using`: it is gone at the end of the block. */
export function scratchFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'parlance-store-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
