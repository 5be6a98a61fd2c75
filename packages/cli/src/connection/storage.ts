/** Opens the storage of a command: a data folder, or a database shared by several nodes. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, loadDatabase } from '@parlance/server/config';
import { openStorage, type Storage, type StorageLocation } from '@parlance/server/storage';
import { CommandError } from '../command.ts';
import { existingDataFolder, type FolderFlags, newOrExistingDataFolder } from './data-folder.ts';

export type StorageFlags = FolderFlags & { readonly database?: string | undefined };

/** The configured database; null for a data folder. A data folder given by a flag takes precedence. */
export function configuredDatabase({ data, config, database }: StorageFlags): string | null {
  if (data !== undefined && database !== undefined)
    throw new CommandError('--data and --database exclude each other', 2);
  if (data !== undefined) return null;
  const argv = [
    ...(database === undefined ? [] : ['--database', database]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  try {
    return loadDatabase(argv, process.env, process.cwd()) ?? null;
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  }
}

/** `begins`: creates a missing data folder. */
export function openConfigured(flags: StorageFlags, create = false): Promise<Storage> {
  const database = configuredDatabase(flags);
  if (database !== null) return openStorage({ database });
  return openStorage({ folder: create ? newOrExistingDataFolder(flags) : existingDataFolder(flags) });
}

/** The storage that an argument names; null if it is a file. */
export function storageAt(argument: string): StorageLocation | null {
  if (/^postgres(ql)?:\/\//.test(argument)) {
    if (!URL.canParse(argument)) throw new CommandError('the URL of the database is not valid', 2);
    return { database: argument };
  }
  const path = resolve(argument);
  if (!existsSync(path) || !statSync(path).isDirectory()) return null;
  return { folder: path };
}
