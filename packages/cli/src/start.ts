/** The start of a server: its configuration, and why it failed. */
import { Fault } from '@parlance/protocol';
import { type Config, ConfigError, loadConfig } from '@parlance/server/config';
import { CommandError } from './command-error.ts';

/** The settings of `parlance serve`. Throws `CommandError` if one is wrong. */
export function configFrom(argv: readonly string[]): Config {
  try {
    return loadConfig(argv, process.env, process.cwd());
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message, 2, { cause: error });
    throw error;
  }
}

/** A one-line explanation of common start errors. */
export async function explainStart(error: unknown, { host, data }: Config): Promise<unknown> {
  if (error instanceof Fault && error.code === 'storage_unavailable')
    return (await import('@parlance/server/data')).storageError(error.cause, data);
  if (!(error instanceof Error) || !('code' in error)) return error;
  switch (error.code) {
    case 'EADDRNOTAVAIL':
      return new CommandError(`host ${host} is not an address of this machine`, 1, { cause: error });
    case 'EACCES':
      return new CommandError(`not allowed to listen on ${host}, or to use the data folder`, 1, {
        cause: error,
      });
    default:
      return error;
  }
}
