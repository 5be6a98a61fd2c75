/** Probes this machine for `parlance doctor`, without leaving anything behind. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Why the data folder cannot be used, or null. It may not exist yet. */
export function folderProblem(folder: string): string | null {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return 'is not a folder';
  try {
    accessSync(found ? folder : existingParent(folder), constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return found ? 'cannot be written to' : 'cannot be created';
  }
}

function existingParent(folder: string): string {
  const parent = dirname(folder);
  return parent === folder || statSync(parent, { throwIfNoEntry: false }) ? parent : existingParent(parent);
}

export function isPortFree(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
