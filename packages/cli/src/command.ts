/** What every command uses: its error, flags, and usage. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** 1: the command failed; 2: invalid usage; 3: an approval is needed; 4: no server, or not signed in; 130: interrupted. */
export type ExitCode = 1 | 2 | 3 | 4 | 130;

/** A command failed. The message is one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

// Flags of the commands.

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

/** Writes one line to standard error. Not `console.error`, which adds colours on a terminal. */
export function printStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Prints the usage of a command: because it was asked for, or because something is missing. Returns the exit code. */
export function showUsage(usage: string, isAsked: boolean | undefined): 0 | 2 {
  (isAsked ? console.log : printStderr)(usage);
  return isAsked ? 0 : 2;
}
