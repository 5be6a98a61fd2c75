/** The data folder of a command. */
import { existsSync } from 'node:fs';
import { beginDataFolder, ConfigError, loadDataFolder } from '@parlance/server/config';
import { CommandError } from '../command.ts';

export type FolderFlags = { readonly data?: string | undefined; readonly config?: string | undefined };

/** The folder may not exist. */
export function dataFolder({ data, config }: FolderFlags): string {
  const argv = [
    ...(data === undefined ? [] : ['--data', data]),
    ...(config === undefined ? [] : ['--config', config]),
  ];
  try {
    return loadDataFolder(argv, process.env, process.cwd());
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  }
}

/** Created and registered if it is missing, so that a server accepts it by default. */
export function newOrExistingDataFolder(flags: FolderFlags): string {
  const folder = dataFolder(flags);
  beginDataFolder(folder, process.env);
  return folder;
}

export function existingDataFolder(flags: FolderFlags): string {
  const folder = dataFolder(flags);
  if (!existsSync(folder)) throw new CommandError(`data folder does not exist: ${folder}`, 1);
  return folder;
}
