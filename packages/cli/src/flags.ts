/** Flags and the data folder, for commands that work on it. */
import { existsSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { beginDataFolder, ConfigError, loadDataFolder } from '@parlance/server/config';
import { CommandError } from './command-error.ts';

export const TEXT = { type: 'string' } as const;
export const SWITCH = { type: 'boolean' } as const;
/** Every command that works on a data folder takes these. */
export const FOLDER_FLAGS = { data: TEXT, config: TEXT, help: { type: 'boolean', short: 'h' } } as const;

export function parseFlags<Options extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options });
  } catch (error) {
    const [line = 'the flags cannot be read'] = error instanceof Error ? error.message.split('. ') : [];
    throw new CommandError(line, 2, { cause: error });
  }
}

type FolderFlags = { readonly data?: string | undefined; readonly config?: string | undefined };

/** Whether it exists or not. */
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

/** Made and registered if it is missing, so that a server takes it up by default. */
export function newOrExistingDataFolder(flags: FolderFlags): string {
  const folder = dataFolder(flags);
  beginDataFolder(folder, process.env);
  return folder;
}

export function existingDataFolder(flags: FolderFlags): string {
  const folder = dataFolder(flags);
  if (!existsSync(folder)) throw new CommandError(`there is no data folder ${folder}`, 1);
  return folder;
}
