/** Flags and data folder of the commands. */
import { existsSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { beginDataFolder, ConfigError, loadDataFolder } from '@parlance/server/config';
import { CommandError } from './command-error.ts';

export const TEXT = { type: 'string' } as const;
export const SWITCH = { type: 'boolean' } as const;
/** Flags of every command that works on a data folder. */
export const FOLDER_FLAGS = { data: TEXT, config: TEXT, help: { type: 'boolean', short: 'h' } } as const;
/** Flags of every command that works on a data folder or on the database of several nodes. */
export const STORAGE_FLAGS = { ...FOLDER_FLAGS, database: TEXT } as const;

export function parseFlags<Options extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options });
  } catch (error) {
    const [line = 'invalid flags'] = error instanceof Error ? error.message.split('. ') : [];
    throw new CommandError(line, 2, { cause: error });
  }
}

export type FolderFlags = { readonly data?: string | undefined; readonly config?: string | undefined };

/** The folder may not exist. */
function dataFolder({ data, config }: FolderFlags): string {
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
