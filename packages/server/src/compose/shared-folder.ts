/** Whether the working directory is the one that the other nodes use. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const MARKER_FILE = '.parlance-cluster';

/**
 * A marker file names the cluster. The first node makes it; a node whose folder has none, or that of another cluster,
 * would work on other files than the rest. Throws then.
 */
export async function checkSharedFolder(folder: string, cluster: string, hasOthers: boolean): Promise<void> {
  const path = join(folder, MARKER_FILE);
  const found = await readFile(path, 'utf8').catch(() => null);
  if (found?.trim() === cluster) return;
  if (found === null && !hasOthers) {
    await mkdir(folder, { recursive: true });
    await writeFile(path, `${cluster}\n`);
    return;
  }
  const problem = found === null ? 'is not the one that the other nodes use' : 'belongs to another cluster';
  throw new Error(
    `the working directory ${folder} ${problem}: share one folder between all nodes (--cwd), or set PARLANCE_FOLDER=own`,
  );
}
