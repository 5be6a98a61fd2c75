/** Flags of the commands. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { CommandError } from './command-error.ts';

export const TEXT = { type: 'string' } as const;
export const SWITCH = { type: 'boolean' } as const;
/** Flags of all commands that work on a data folder. */
export const FOLDER_FLAGS = { data: TEXT, config: TEXT, help: { type: 'boolean', short: 'h' } } as const;
/** Flags of all commands that work on a data folder or a shared database. */
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
