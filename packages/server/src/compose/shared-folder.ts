/** Checks that all nodes use the same working directory. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const MARKER_FILE = '.parlance-cluster';

/** If several nodes start together, the first may not have created the file yet. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/**
 * A marker file names the cluster; the first node creates it. Throws if it is missing or names another
 * cluster, because this node would then work on different files.
 */
export async function checkSharedFolder(folder: string, cluster: string, isFirst: boolean): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const read = () => readFile(path, 'utf8').catch(() => null);
  let found = await read();
  if (found === null && isFirst) {
    await mkdir(folder, { recursive: true });
    await writeFile(path, `${cluster}\n`);
    return;
  }
  const deadline = performance.now() + PATIENCE_MS;
  while (found === null && performance.now() < deadline) {
    await Bun.sleep(LOOK_AGAIN_MS);
    found = await read();
  }
  if (found?.trim() === cluster) return;
  const problem = found === null ? 'is not the one that the other nodes use' : 'belongs to another cluster';
  throw new Error(
    `the working directory ${folder} ${problem}: share one folder between all nodes (--cwd), or set PARLANCE_FOLDER=own`,
  );
}
